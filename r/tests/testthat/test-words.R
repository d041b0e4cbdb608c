test_that("columns are those of the query", {
  expect_equal(columns_of("select coll_name, DATA_SIZE where DATA_NAME = 'a'"), c("COLL_NAME", "DATA_SIZE"))
  expect_equal(columns_of("SELECT max(DATA_SIZE);"), "MAX(DATA_SIZE)")
  for (end in c("", ";", " where DATA_NAME = 'select a, b'", " order by x desc", " group by x", " limit 5", " offset 1 limit 2 ", "\nfrom R_DATA_MAIN")) {
    for (begin in c("select ", " Select\nno distinct ", "SELECT DISTINCT ")) {
      expect_equal(columns_of(paste0(begin, "DATA_NAME,substr(coll_name, 1, 2) , concat(DATA_NAME, ', where ')", end)),
        c("DATA_NAME", "SUBSTR(COLL_NAME, 1, 2)", "CONCAT(DATA_NAME, ', WHERE ')")
      )
    }
  }
})

test_that("a string in a query may contain quotes", {
  expect_equal(quoted("it's"), "'it''s'")
})

test_that("an address of the iRODS HTTP API is the address of the server", {
  expect_equal(base_of("http://x:1/irods-http-api/0.2.0"), "http://x:1")
  expect_equal(base_of("http://x:1/irods-rest/0.9.3/"), "http://x:1")
  expect_equal(base_of("http://x:1/"), "http://x:1")
})

test_that("numbers are never sent with an exponent, and missing arguments are not sent", {
  sent <- encode(list(offset = 1e7, flag = TRUE, ticket = NULL, name = "a b+c"))
  expect_equal(sent, "offset=10000000&flag=1&name=a%20b%2Bc")
  expect_equal(encode(list()), "")
})

test_that("a number must be a single one, and not negative", {
  for (wrong in list("x", -1, NA, NULL, c(1, 2), NaN)) expect_error(check_count(wrong, "offset"), "`offset`", class = "cenote_invalid")
  for (right in list(0, 1L, 1e10, Inf)) expect_silent(check_count(right, "limit"))
})

test_that("an invalid server address is not saved", {
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

test_that("a part is renamed only if it has the announced bytes", {
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

test_that("errors have classes, messages and hints", {
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

test_that("errors of the connection have their own messages", {
  aborted <- simpleError("Operation was aborted by an application callback")
  expect_s3_class(tryCatch(stop_unreachable(aborted), interrupt = identity), c("interrupt", "condition"), exact = TRUE)
  expect_error(stop_unreachable(simpleError("Failed to open file /x.part.")), "local path", class = "cenote_invalid")
  expect_error(stop_unreachable(simpleError("Connection refused")), "running", class = "cenote_unreachable")
})

test_that("messages of the server contain logical paths", {
  state$info <- list(irods_zone = "z")
  at_end(function() state$info <- NULL, environment())
  expect_equal(in_zone("nothing is at /home/a b/c"), "nothing is at /z/home/a b/c")
  expect_equal(in_zone("ada needs own and has read: /"), "ada needs own and has read: /z")
  expect_equal(in_zone("no such object: /z/home"), "no such object: /z/home")
  expect_equal(in_zone("a name cannot contain `/`: \"x y/z\""), "a name cannot contain `/`: \"x y/z\"")
  expect_error(stop_code(-79000, "not empty: SYS_COLLECTION_NOT_EMPTY", "/z/a"), "not empty: /z/a\n")
})

test_that("rows with different fields are combined into one data frame", {
  expect_equal(bind_rows(list(list(a = 1), list(a = 2, b = "x"))), data.frame(a = c(1, 2), b = c(NA, "x")))
  expect_equal(dim(bind_rows(list())), c(0L, 0L))
})

test_that("a file is sent in one request from where it stopped, a very large one in several", {
  expect_equal(seq_by(5, 6, part_bytes), 5)
  expect_null(seq_by(6, 6, part_bytes))
  expect_equal(seq_by(5, 2^31, part_bytes), 5 + c(0, 2^30))
})

test_that("hexadecimal digits match the bytes", {
  expect_identical(binary(hexadecimal(as.raw(0:255))), as.raw(0:255))
  expect_null(binary(NULL))
})

test_that("progress shows the rate and the remaining time, and counts nothing twice", {
  now <- 0
  tick <- progress(100e6, TRUE, function() now)
  lines <- capture.output({
    tick(20e6, already = TRUE)
    now <- 2
    tick(40e6)
    now <- 2.05
    tick(1e6) # too soon to be shown
    now <- 4
    tick(50e6)
    tick(1)
  })
  lines <- strsplit(paste(lines, collapse = "\n"), "\r")[[1]][-1]
  expect_length(lines, 3)
  expect_match(lines[[1]], "^ 20% \\|=+ +\\| 20 MB of 100 MB *$")
  expect_match(lines[[2]], "60% .* 60 MB of 100 MB, 20 MB/s, 2.0 s left *$")
  expect_match(lines[[3]], "100% \\|=+\\| 100 MB, 20 MB/s, 4.0 s *$")
  expect_silent(progress(0, TRUE)(5))
  expect_silent(progress(5, FALSE)(5))
})

test_that("the line of a progress bar has a constant width", {
  for (total in 10^(0:16)) {
    for (part in c(0, 1e-4, 0.5, 1)) {
      line <- bar_line(floor(total * part), total, floor(total * part), 10^sample(-3:5, 1), 80)
      expect_lte(nchar(line), 80)
      expect_gte(nchar(line), 60)
    }
  }
  expect_equal(told_bytes(c(0)), "0 B")
  expect_equal(vapply(c(999, 999.9, 1000, 45123456, 999999999), told_bytes, ""), c("999 B", "1 kB", "1 kB", "45.1 MB", "1 GB"))
  expect_equal(vapply(c(0, 9.94, 10, 75.2, 4000), told_seconds, ""), c("0.0 s", "9.9 s", "0:10", "1:15", "1:06:40"))
})
