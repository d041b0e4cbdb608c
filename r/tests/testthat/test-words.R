test_that("columns are those of the query", {
  expect_equal(columns_of("select coll_name, DATA_SIZE where DATA_NAME = 'a'"), c("COLL_NAME", "DATA_SIZE"))
  expect_equal(columns_of("SELECT max(DATA_SIZE);"), "MAX(DATA_SIZE)")
})

test_that("an address of the iRODS HTTP API is the address of the server", {
  expect_equal(base_of("http://x:1/irods-http-api/0.2.0"), "http://x:1")
  expect_equal(base_of("http://x:1/"), "http://x:1")
})

test_that("numbers are never sent with an exponent", {
  expect_equal(encode(list(offset = 1e7, flag = TRUE, name = "a b+c")), "offset=10000000&flag=1&name=a%20b%2Bc")
})

test_that("operations are checked before they are sent", {
  expect_error(checked_operations(list()), class = "cenote_invalid")
  expect_error(checked_operations(list(list(operation = "add"))), class = "cenote_invalid")
  expect_error(checked_operations(data.frame(operation = "add", attribute = "a", value = "v", x = 1)),
    class = "cenote_invalid"
  )
})

test_that("a digest is read from its header", {
  expect_equal(announced("Repr-Digest: sha-256=:AQI=:"), "0102")
  expect_null(announced("ETag: x"))
})
