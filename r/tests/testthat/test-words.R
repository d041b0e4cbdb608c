test_that("columns are those of the query", {
  expect_equal(columns_of("select coll_name, DATA_SIZE where DATA_NAME = 'a'"), c("COLL_NAME", "DATA_SIZE"))
  expect_equal(columns_of("SELECT max(DATA_SIZE);"), "MAX(DATA_SIZE)")
})

test_that("a text in a query may have quotes", {
  expect_equal(quoted("it's"), "'it''s'")
})

test_that("an address of the iRODS HTTP API is the address of the server", {
  expect_equal(base_of("http://x:1/irods-http-api/0.2.0"), "http://x:1")
  expect_equal(base_of("http://x:1/irods-rest/0.9.3/"), "http://x:1")
  expect_equal(base_of("http://x:1/"), "http://x:1")
})

test_that("numbers are never sent with an exponent, and what is not given is not sent", {
  sent <- encode(list(offset = 1e7, flag = TRUE, ticket = NULL, name = "a b+c"))
  expect_equal(sent, "offset=10000000&flag=1&name=a%20b%2Bc")
  expect_equal(encode(list()), "")
})

test_that("a number is one, and not negative", {
  for (wrong in list("x", -1, NA, NULL, c(1, 2), NaN)) expect_error(check_count(wrong, "offset"), "`offset`", class = "cenote_invalid")
  for (right in list(0, 1L, 1e10, Inf)) expect_silent(check_count(right, "limit"))
})

test_that("what is no address of a server is not remembered", {
  for (wrong in c("nonsense", "localhost:8470", "http://", "ftp://x")) {
    expect_error(create_irods(wrong, overwrite = TRUE), "http://", class = "cenote_invalid")
  }
})

test_that("operations are checked before they are sent", {
  expect_equal(checked_operations(list()), list())
  expect_equal(checked_operations(data.frame()), list())
  expect_equal(
    checked_operations(data.frame(operation = "add", attribute = "a", value = 1, units = NA)),
    list(list(operation = "add", attribute = "a", value = "1"))
  )
  wrong <- list(
    "x", list("x"), list(list(operation = "add")), list(list(operation = "modify", attribute = "a", value = "b")),
    list(list(x = 1)), data.frame(x = 1), list(operation = "add", attribute = "a", value = "v"),
    data.frame(operation = "add", attribute = "", value = "v"), data.frame(operation = "add", attribute = NA, value = "v"),
    data.frame(operation = "add", attribute = "a", value = NA), list(list(operation = "add", attribute = "a", value = 1:2)),
    data.frame(operation = "add", attribute = "a", value = "v", x = 1), NULL, 1
  )
  for (operations in wrong) expect_error(checked_operations(operations), class = "cenote_invalid")
  expect_error(checked_operations(list(list(x = 1))), "operation.*attribute.*value.*units")
  expect_error(checked_operations(list(list(operation = "modify"))), "\"add\" or \"remove\"")
})

answer_with <- function(...) list(headers = charToRaw(paste0(c("HTTP/1.1 200 OK", ...), "\r\n", collapse = "")))

test_that("digests are read from their header", {
  told <- announced(answer_with("ETag: x", "Repr-Digest: sha-256=:AQI=:, crc64nvme=:AwQ=:, md5=:AAAA:"))
  expect_equal(told, list(sha256 = as.raw(1:2), crc64nvme = as.raw(3:4)))
  expect_equal(announced(answer_with("repr-digest: crc64nvme=:AwQ=:")), list(sha256 = NULL, crc64nvme = as.raw(3:4)))
  expect_equal(announced(answer_with("ETag: x")), list(sha256 = NULL, crc64nvme = NULL))
})

test_that("a part gets the name only with the bytes that were announced", {
  header <- function(algorithm, digest) paste0(algorithm, "=:", jsonlite::base64_enc(digest), ":")
  bytes <- charToRaw("123456789")
  part <- file_with(bytes)
  right <- c(header("sha-256", sha256(part)), header("crc64nvme", crc64nvme(part)))
  wrong <- c(header("sha-256", raw(32)), header("crc64nvme", raw(8)))
  kept <- function(...) {
    part <- file_with(bytes)
    file <- paste0(part, ".whole")
    answer <- answer_with(if (...length()) paste("Repr-Digest:", paste(..., sep = ", ")))
    known <- tryCatch(keep_file(answer, part, file), cenote_mismatch = function(e) e)
    expect_false(file.exists(part))
    expect_equal(file.exists(file), !inherits(known, "condition"))
    known
  }
  expect_equal(kept(right[[1]], right[[2]]), sha256(part))
  expect_equal(kept(right[[1]]), sha256(part))
  expect_null(kept(right[[2]]))
  expect_null(kept())
  expect_s3_class(kept(wrong[[1]]), "cenote_mismatch")
  expect_s3_class(kept(wrong[[2]]), "cenote_mismatch")
  expect_s3_class(kept(right[[1]], wrong[[2]]), "cenote_mismatch")
})

test_that("errors have classes, words and hints", {
  error <- expect_error(stop_code(-818000), class = "cenote_denied")
  expect_s3_class(error, "cenote_error")
  expect_match(conditionMessage(error), "hint: ask its owner")
  expect_error(stop_code(-1), class = "cenote_refused")
  expect_error(stop_code(-170000), "no such collection", class = "cenote_not_found")
  expect_error(stop_problem(412, list()), class = "cenote_exists")
  expect_error(stop_problem(507, list(type = "urn:cenote:problem:no-space", detail = "full")), "full",
    class = "cenote_no_space"
  )
})

test_that("what ends a request has words of its own", {
  aborted <- simpleError("Operation was aborted by an application callback")
  expect_s3_class(tryCatch(stop_unreachable(aborted), interrupt = identity), c("interrupt", "condition"), exact = TRUE)
  expect_error(stop_unreachable(simpleError("Failed to open file /x.part.")), "local path", class = "cenote_invalid")
  expect_error(stop_unreachable(simpleError("Connection refused")), "running", class = "cenote_unreachable")
})

test_that("the server's words name logical paths", {
  state$info <- list(irods_zone = "z")
  at_end(function() state$info <- NULL, environment())
  expect_equal(in_zone("nothing is at /home/a b/c"), "nothing is at /z/home/a b/c")
  expect_equal(in_zone("ada needs own and has read: /"), "ada needs own and has read: /z")
  expect_equal(in_zone("no such object: /z/home"), "no such object: /z/home")
  expect_equal(in_zone("a name cannot contain `/`: \"x y/z\""), "a name cannot contain `/`: \"x y/z\"")
  expect_error(stop_code(-79000, "not empty: SYS_COLLECTION_NOT_EMPTY", "/z/a"), "not empty: /z/a\n")
})

test_that("rows with different fields make one data frame", {
  expect_equal(bind_rows(list(list(a = 1), list(a = 2, b = "x"))), data.frame(a = c(1, 2), b = c(NA, "x")))
  expect_equal(dim(bind_rows(list())), c(0L, 0L))
})

test_that("a file goes in one request from where it stopped, a very large one in several", {
  expect_equal(seq_by(5, 6, part_bytes), 5)
  expect_null(seq_by(6, 6, part_bytes))
  expect_equal(seq_by(5, 2^31, part_bytes), 5 + c(0, 2^30))
})

test_that("digits are those of the bytes", {
  expect_identical(binary(hexadecimal(as.raw(0:255))), as.raw(0:255))
  expect_null(binary(NULL))
})
