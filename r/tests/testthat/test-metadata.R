test_that("attributes are added to objects and collections, and removed", {
  need_server()
  isaveRDS(1, "o")
  here <- "/tempZone/home/rods/tests"
  expect_invisible(imeta(here, operations = list(list(operation = "add", attribute = "foo", value = "bar", units = "baz"))))
  expect_equal(
    iquery(paste0("select META_COLL_ATTR_NAME, META_COLL_ATTR_VALUE, META_COLL_ATTR_UNITS where COLL_NAME = '", here, "'")),
    data.frame(META_COLL_ATTR_NAME = "foo", META_COLL_ATTR_VALUE = "bar", META_COLL_ATTR_UNITS = "baz")
  )
  imeta("o", operations = add(c("foo", "foo2"), c("bar", "c+d = 100%"), units = "baz"))
  imeta("o", operations = list(
    list(operation = "add", attribute = "foo", value = "bar", units = "baz"), # there already
    list(operation = "add", attribute = "foo6", value = "bar6")
  ))
  asked <- paste0("select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE where COLL_NAME = '", here, "' and DATA_NAME = 'o'")
  expect_equal(iquery(asked)$META_DATA_ATTR_VALUE, c("bar", "c+d = 100%", "bar6"))
  imeta("o", operations = data.frame(operation = "remove", attribute = "foo", value = "bar", units = "baz"))
  expect_equal(nrow(iquery(asked)), 2)
})

test_that("all operations are done, or none", {
  need_server()
  isaveRDS(1, "o")
  expect_error(imeta("o", operations = list(
    list(operation = "add", attribute = "a", value = "1"), list(operation = "add", attribute = "", value = "")
  )), class = "cenote_error")
  expect_message(ils(metadata = TRUE), "No metadata")
  expect_silent(imeta("o", operations = data.frame()))
  expect_error(imeta("none", operations = add("a", "b")), "/tests/none", class = "cenote_not_found")
  expect_error(imeta("o", operations = list(list(operation = "modify"))), class = "cenote_invalid")
})

test_that("a condition of a query is told, and what cannot be asked", {
  need_server()
  expect_error(iquery("select DATA_NAME where DATA_SIZE > 1"), "quotes", class = "cenote_invalid")
  expect_error(iquery("select NOPE"), "NOPE", class = "cenote_invalid")
  expect_error(iquery("select DATA_NAME", sql_only = TRUE), "genquery2", class = "cenote_invalid")
  expect_match(iquery("select DATA_NAME", sql_only = TRUE, parser = "genquery2"), "select DATA_NAME")
  expect_error(iquery("ShowCollAcls", type = "specific"), "statement", class = "cenote_invalid")
})

test_that("users have attributes, too", {
  need_server()
  imeta("rods", "user", operations = add("lab", "B12"))
  expect_true("rods" %in% iquery("select USER_NAME where META_USER_ATTR_NAME = 'lab'")$USER_NAME)
  imeta("rods", "user", operations = data.frame(operation = "remove", attribute = "lab", value = "B12"))
  expect_error(imeta("nobody", "user", operations = add("lab", "B12")), "USER_NAME", class = "cenote_not_found")
})

test_that("answers of queries are data frames with types", {
  need_server()
  isaveRDS(1, "o")
  found <- iquery(
    "SELECT COLL_NAME, DATA_NAME, DATA_SIZE, COLL_CREATE_TIME WHERE COLL_NAME LIKE '/tempZone/home/rods/tests%'"
  )
  expect_named(found, c("COLL_NAME", "DATA_NAME", "DATA_SIZE", "COLL_CREATE_TIME"))
  expect_equal(found$DATA_NAME, "o")
  expect_type(found$DATA_SIZE, "double")
  expect_s3_class(found$COLL_CREATE_TIME, "POSIXct")
  expect_lt(abs(as.numeric(found$COLL_CREATE_TIME) - as.numeric(Sys.time())), 600)
})

test_that("an answer without rows has its columns", {
  need_server()
  none <- iquery("SELECT DATA_NAME, DATA_SIZE, DATA_MODIFY_TIME WHERE DATA_NAME = 'none'")
  expect_equal(dim(none), c(0L, 3L))
  expect_type(none$DATA_SIZE, "double")
  expect_s3_class(none$DATA_MODIFY_TIME, "POSIXct")
  expect_equal(dim(iquery("select DATA_NAME", limit = 0)), c(0L, 1L))
})

test_that("queries have limits, offsets and cases", {
  need_server()
  for (name in c("a", "b", "c")) isaveRDS(1, name)
  asked <- "select DATA_NAME where COLL_NAME = '/tempZone/home/rods/tests'"
  expect_equal(iquery(asked)$DATA_NAME, c("a", "b", "c"))
  expect_equal(iquery(asked, limit = 2)$DATA_NAME, c("a", "b"))
  expect_equal(iquery(asked, offset = 2)$DATA_NAME, "c")
  expect_equal(iquery(paste(asked, "and DATA_NAME = 'A'"))$DATA_NAME, character())
  expect_equal(iquery(paste(asked, "and DATA_NAME = 'A'"), case_sensitive = FALSE)$DATA_NAME, "a")
  expect_error(iquery("selec"), class = "cenote_error")
  expect_error(iquery(character()), class = "cenote_invalid")
  expect_error(iquery(asked, parser = "sql"))
})
