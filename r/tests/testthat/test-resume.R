# Waits until a value is positive, which it becomes some time after the server has noticed a lost
# connection.
awaited <- function(what, until = Sys.time() + 30) {
  while (!isTRUE(what() > 0) && Sys.time() < until) NULL
  what()
}

test_that("an interrupted download continues where it stopped", {
  need_server()
  file <- file_with(random_bytes(3e6))
  iput(file, "f")
  through(breaking_proxy(down = 1e6))
  back <- tempfile()
  expect_error(iget("f", back), "continues where it stopped", class = "cenote_unreachable")
  expect_false(file.exists(back))
  before <- file.size(paste0(back, ".part"))
  expect_gt(before, 0)
  expect_lt(before, 3e6)
  expect_output(iget("f", back, verbose = TRUE), "100%")
  expect_identical(bytes_of(back), bytes_of(file))
  expect_false(file.exists(paste0(back, ".part")))
})

test_that("received bytes are kept while the server is unreachable", {
  need_server()
  there <- host()
  file <- file_with(random_bytes(3e6))
  iput(file, "f")
  back <- tempfile()
  writeBin(bytes_of(file)[1:2e6], paste0(back, ".part"))
  state$host <- "http://127.0.0.1:1"
  error <- expect_error(iget("f", back), "continues where it stopped", class = "cenote_unreachable")
  expect_equal(lengths(gregexpr("hint:", conditionMessage(error))), 1)
  expect_equal(file.size(paste0(back, ".part")), 2e6)
  state$host <- there
  iget("f", back)
  expect_identical(bytes_of(back), bytes_of(file))
})

test_that("an interrupted download has one hint", {
  need_server()
  iput(file_with(random_bytes(3e6)), "f")
  through(breaking_proxy(down = 1e6))
  error <- expect_error(iget("f", tempfile()), class = "cenote_unreachable")
  expect_equal(lengths(gregexpr("hint:", conditionMessage(error))), 1)
})

test_that("a part that does not belong to the object is not used", {
  need_server()
  file <- file_with(random_bytes(1e5))
  iput(file, "f")
  for (stale in list(raw(50000), raw(2e5), bytes_of(file))) {
    back <- tempfile()
    writeBin(stale, paste0(back, ".part"))
    iget("f", back)
    expect_identical(bytes_of(back), bytes_of(file))
  }
  writeBin(raw(10), paste0(back, ".part"))
  iget("f", back, overwrite = TRUE, resume = FALSE)
  expect_identical(bytes_of(back), bytes_of(file))
})

test_that("an interrupted directory continues where it stopped", {
  need_server()
  dir <- tempfile()
  dir.create(dir)
  for (i in 1:4) writeBin(random_bytes(5e5), file.path(dir, i))
  iput(dir, "d")
  through(breaking_proxy(down = 3e5, times = 2))
  back <- tempfile()
  expect_error(iget("d", back), "failed", class = "cenote_unreachable")
  iget("d", back, overwrite = TRUE)
  for (i in 1:4) expect_identical(bytes_of(file.path(back, i)), bytes_of(file.path(dir, i)))
})

test_that("an interrupted upload continues where it stopped, and nothing is visible before", {
  need_server()
  file <- file_with(random_bytes(40 * 2^20))
  through(breaking_proxy(up = 4 * 2^20))
  expect_error(iput(file, "f"), class = "cenote_unreachable")
  expect_equal(nrow(ils()), 0)
  expect_length(list.files(notes()), 1)
  arrived_before <- awaited(function() begun_upload(file, absolute("f"))$end)
  expect_gt(arrived_before, 2^20)
  expect_lt(arrived_before, 5 * 2^20)
  steps <- c()
  put_in_parts(file, absolute("f"), list(overwrite = FALSE, resume = TRUE), function(bytes, ...) steps <<- c(steps, bytes))
  expect_equal(sum(steps), file.size(file))
  expect_equal(steps[[1]], arrived_before)
  expect_length(list.files(notes()), 0)
  back <- tempfile()
  expect_identical(iget("f", back)$checksum, checksum_of(file)) # of the whole, though it came in two parts
  expect_identical(tools::md5sum(back)[[1]], tools::md5sum(file)[[1]])
})

test_that("a large upload has a checksum immediately", {
  need_server()
  file <- file_with(random_bytes(17 * 2^20))
  expect_identical(iput(file, "f")$checksum, checksum_of(file))
  expect_identical(iget("f", tempfile())$checksum, checksum_of(file))
})

test_that("an upload is not continued with another file", {
  need_server()
  file <- file_with(random_bytes(20 * 2^20))
  upload <- begin_upload(file, absolute("f"), list(overwrite = FALSE))
  put_part(upload, file, 0, 2^20, list(), identity)
  bytes <- bytes_of(file)
  bytes[[1]] <- xor(bytes[[1]], as.raw(1))
  time <- file.mtime(file)
  writeBin(bytes, file)
  Sys.setFileTime(file, time) # it looks the same
  iput(file, "f")
  back <- tempfile()
  iget("f", back)
  expect_identical(bytes_of(back), bytes)
})

test_that("an upload unknown to the server starts over", {
  need_server()
  file <- file_with(random_bytes(17 * 2^20))
  upload <- begin_upload(file, absolute("f"), list(overwrite = FALSE))
  h <- handle(customrequest = "DELETE", url = paste0(host(), "/v1/uploads/", upload$id))
  curl::curl_fetch_memory(paste0(host(), "/v1/uploads/", upload$id), h)
  iput(file, "f")
  expect_length(list.files(notes()), 0)
  expect_error(iput(file, "f"), class = "cenote_exists")
})

test_that("a small upload that is interrupted leaves nothing", {
  need_server()
  file <- file_with(random_bytes(3e6))
  through(breaking_proxy(up = 1e6))
  expect_error(iput(file, "f"), class = "cenote_unreachable")
  expect_equal(nrow(ils()), 0)
  iput(file, "f")
  expect_equal(ils(stat = TRUE)$size, 3e6)
})

test_that("a request that fails leaves no digest behind", {
  skip_if_not(dir.exists("/proc/self/task"), "there is no /proc")
  need_server()
  file <- sparse(1e11)
  before <- threads()
  state$host <- "http://127.0.0.1:1"
  expect_error(put_part(list(id = "none"), file, 0, 1e11, list(), identity), class = "cenote_unreachable")
  expect_equal(threads(), before)
  state$host <- answering(503)
  expect_error(put_part(list(id = "none"), file, 0, 1e11, list(), identity), class = "cenote_error")
  expect_equal(threads(), before)
})

test_that("a file that shrinks before it is put is reported", {
  need_server()
  file <- file_with(as.raw(1:3))
  expect_error(digest_of(file, 4), "shorter", class = "cenote_invalid")
  expect_equal(digest_of(file, 3), sha256(file))
  expect_equal(digest_of(file, 2), sha256(file_with(as.raw(1:2)))) # one that grows goes as it was
})

test_that("two calls do not write the same part", {
  skip_on_os("windows")
  need_server()
  file <- file_with(random_bytes(1e6))
  imkdir("d")
  iput(file, "d/f")
  dir <- tempfile()
  dir.create(dir)
  part <- file.path(dir, "f.part")
  lock <- lock_part(part)
  for (come in list(raw(), raw(10))) {
    writeBin(come, part)
    expect_error(iget("d/f", file.path(dir, "f")), "already being transferred", class = "cenote_busy")
    expect_error(iget("d", dir), "already being transferred", class = "cenote_busy")
    expect_error(iget("d/f", file.path(dir, "f"), resume = FALSE), class = "cenote_busy")
    expect_identical(bytes_of(part), come)
  }
  unlock(lock)
  iget("d", dir)
  expect_identical(bytes_of(file.path(dir, "f")), bytes_of(file))
  expect_equal(list.files(dir), "f")
})

test_that("a part is unlocked however a call ends", {
  skip_on_os("windows")
  file <- tempfile()
  lock <- lock_part(file)
  expect_error(lock_part(file), class = "cenote_busy")
  expect_error(lock_part(file.path(dirname(file), ".", basename(file))), class = "cenote_busy")
  unlock(lock_part(paste0(file, "-other")))
  unlock(lock)
  unlock(lock)
  unlock(lock_part(file))
  expect_false(file.exists(file))
})

test_that("a lock is removed with its holder, and a file that took its name is not", {
  skip_on_os("windows")
  file <- tempfile()
  lock <- .Call(lock_take, file)
  file.rename(file, paste0(file, "-new"))
  other <- .Call(lock_take, file)
  unlock(lock)
  expect_true(file.exists(paste0(file, "-new")))
  expect_null(.Call(lock_take, file))
  unlock(other)
  expect_false(file.exists(file))
  writeBin(as.raw(1), file)
  unlock(.Call(lock_take, file))
  expect_identical(bytes_of(file), as.raw(1))
  unlock(.Call(lock_take, file.path(tempfile(), "none"))) # who writes there will say why
})

test_that("nothing is left if nothing was received", {
  need_server()
  state$host <- "http://127.0.0.1:1"
  back <- tempfile()
  expect_error(iget("f", back), class = "cenote_unreachable")
  skip_on_os("windows")
  expect_false(file.exists(paste0(back, ".part")))
})

test_that("the message of an overloaded server is not taken for content", {
  need_server()
  for (come in list(raw(), raw(20))) {
    state$host <- answering("503,503,200", "too many,again,123456789", "Repr-Digest: crc64nvme=:rosUhgp5mIg=:")
    back <- tempfile()
    writeBin(come, paste0(back, ".part"))
    iget("f", back)
    expect_equal(bytes_of(back), charToRaw("123456789"))
  }
})

test_that("everything started by an interrupted call ends", {
  need_server()
  iput(file_with(random_bytes(10)), "f")
  for (port in sample(20000:60000)) {
    listener <- tryCatch(serverSocket(port), error = function(e) NULL) # takes connections, and never answers
    if (!is.null(listener)) break
  }
  at_end(function() close(listener), environment())
  there <- host()
  state$host <- paste0("http://127.0.0.1:", port)
  back <- tempfile()
  writeBin(raw(5), paste0(back, ".part"))
  expect_error({
    setTimeLimit(elapsed = 0.3, transient = TRUE)
    get_streams(absolute("f"), back, list(resume = TRUE), function(...) NULL)
  }, "time limit")
  setTimeLimit()
  state$host <- there
  iget("f", back)
  expect_equal(file.size(back), 10)
})

test_that("an interrupt is that of R, whatever is in progress, and keeps the received bytes", {
  skip_on_os("windows")
  need_server()
  file <- file_with(random_bytes(3e5))
  large <- file_with(random_bytes(17 * 2^20))
  back <- tempfile()
  part <- paste0(back, ".part")
  calls <- list(
    quote(ils()), quote(iget("f", back)), quote(iget("f", back, verbose = TRUE)), quote(iput(file, "f")),
    quote(iput(large, "f")), quote(iput(file, "f", offset = 1, overwrite = TRUE)), quote(get_tree(absolute("d"), back, list(offset = 0), FALSE)),
    quote(iquery("select DATA_NAME")), quote(ireadRDS("f"))
  )
  there <- host()
  for (call in calls) {
    state$host <- answering("interrupt")
    caught <- tryCatch(eval(call), interrupt = identity)
    expect_s3_class(caught, "interrupt")
    expect_false(any(file.exists(c(back, part))), info = deparse(call))
  }
  writeBin(as.raw(1:5), part)
  state$host <- answering("interrupt")
  expect_s3_class(tryCatch(iget("f", back), interrupt = identity), "interrupt")
  expect_identical(bytes_of(part), as.raw(1:5))
  state$host <- there
  iput(file, "f")
  expect_equal(iget("f", back)$size, 3e5)
})
