# The bits of a number in hexadecimal, the least significant first.
bits_of <- function(digits) as.logical(rawToBits(rev(binary(digits))))

test_that("the SHA-256 matches the standard", {
  file <- file_with(charToRaw("abc"))
  expect_equal(hexadecimal(sha256(file)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  expect_equal(substr(hexadecimal(sha256(file_with(raw()))), 1, 16), "e3b0c44298fc1c14")
  expect_equal(sha256(file_with(charToRaw("xabcx")), 1, 3), sha256(file))
})

test_that("the CRC matches the standard, for any length and offset", {
  crc_of <- function(bytes) hexadecimal(crc64nvme(file_with(bytes)))
  expect_equal(crc_of(charToRaw("123456789")), "ae8b14860a799888")
  expect_equal(crc_of(raw()), strrep("0", 16))
  # The test cases of the NVM Command Set Specification 1.0: 4 KiB of zeros, of ones, of increasing and of decreasing
  # numbers.
  expect_equal(crc_of(raw(4096)), "6482d367eb22b64e")
  expect_equal(crc_of(rep(as.raw(255), 4096)), "c0ddba7302eca3ac")
  expect_equal(crc_of(as.raw(rep(0:255, 16))), "3e729f5f6750449c")
  expect_equal(crc_of(as.raw(rep(255:0, 16))), "9a2df64b8e9e517e")
})

test_that("the CRC of any length matches a bitwise computation", {
  polynomial <- bits_of("9a6c9329ac4bc9b5")
  by_bits <- function(bytes) {
    crc <- rep(TRUE, 64)
    for (byte in as.integer(bytes)) {
      crc[1:8] <- xor(crc[1:8], as.logical(intToBits(byte)[1:8]))
      for (bit in 1:8) crc <- if (crc[[1]]) xor(c(crc[-1], FALSE), polynomial) else c(crc[-1], FALSE)
    }
    !crc
  }
  for (size in c(1:9, 63:66, 127:130, 200)) {
    bytes <- random_bytes(size)
    expect_equal(bits_of(hexadecimal(crc64nvme(file_with(bytes)))), by_bits(bytes))
  }
})

# Writes bytes to a file piece by piece; the file is closed at the end.
grow <- function(file, bytes) {
  sink <- file(file, "ab")
  on.exit(close(sink))
  for (begin in seq(1, length(bytes), 3e5)) {
    writeBin(bytes[begin:min(begin + 3e5 - 1, length(bytes))], sink)
    flush(sink)
  }
}

test_that("a digest follows a file that grows", {
  bytes <- random_bytes(5e6)
  file <- tempfile()
  digest <- begin_digest(file) # from before it is there
  crc <- begin_digest(file, algorithm = "crc64nvme")
  behind <- begin_digest(file, 1e5, algorithm = "crc64nvme")
  grow(file, bytes)
  expect_equal(end_digest(digest, 5e6), sha256(file_with(bytes)))
  expect_equal(end_digest(crc, 5e6), crc64nvme(file_with(bytes)))
  expect_equal(end_digest(behind, 4.9e6), crc64nvme(file_with(bytes[-(1:1e5)])))
})

test_that("a file that is truncated meanwhile has no digest, or that of its former bytes", {
  bytes <- random_bytes(5e6)
  for (attempt in 1:5) {
    file <- tempfile()
    digests <- lapply(c("sha-256", "crc64nvme"), function(algorithm) begin_digest(file, algorithm = algorithm))
    grow(file, bytes)
    close(file(file, "wb"))
    grow(file, bytes[1:1e5])
    whole <- list(sha256(file_with(bytes)), crc64nvme(file_with(bytes)))
    for (i in 1:2) {
      digest <- end_digest(digests[[i]], 5e6)
      if (!is.null(digest)) expect_equal(digest, whole[[i]])
    }
    expect_false(file.size(file) == 5e6)
  }
})

test_that("an abandoned digest ends", {
  skip_if_not(dir.exists("/proc/self/task"), "there is no /proc")
  before <- threads()
  expect_null(end_digest(begin_digest(tempfile())))
  expect_null(end_digest(begin_digest(tempfile()), NA))
  expect_null(end_digest(begin_digest(tempfile()), -1))
  expect_null(end_digest(begin_digest(sparse(1e11), length = 1e11)))
  expect_equal(threads(), before)
})

test_that("waiting for a digest can be interrupted", {
  skip_if_not(dir.exists("/proc/self/task"), "there is no /proc")
  before <- threads()
  file <- sparse(1e11)
  expect_error({
    setTimeLimit(elapsed = 0.2, transient = TRUE)
    sha256(file)
  }, "time limit")
  setTimeLimit()
  expect_equal(threads(), before)
})

test_that("a forked process has no digest, and ends", {
  skip_on_os("windows")
  digest <- begin_digest(file_with(as.raw(1:3)))
  child <- parallel::mcparallel({
    mine <- begin_digest(file_with(as.raw(1:3)))
    list(end_digest(digest, 3), end_digest(mine, 3), rm(digest), gc()[[1]])
  })
  collected <- parallel::mccollect(child, wait = FALSE, timeout = 20)
  expect_null(collected[[1]][[1]])
  expect_equal(collected[[1]][[2]], sha256(file_with(as.raw(1:3))))
  expect_equal(end_digest(digest, 3), sha256(file_with(as.raw(1:3))))
})

test_that("a digest does not take the end of the received bytes for the end of the file", {
  bytes <- random_bytes(312)
  of_pieces <- function(cut) {
    file <- tempfile()
    digest <- begin_digest(file)
    sink <- file(file, "ab")
    on.exit(unlink(file))
    for (piece in list(bytes[1:cut], bytes[(cut + 1):312])) {
      writeBin(piece, sink)
      flush(sink)
    }
    close(sink)
    end_digest(digest, 312)
  }
  expect_equal(unique(lapply(1:311, of_pieces)), list(sha256(file_with(bytes))))
})

test_that("a digest of more bytes than the file has is NULL, and nothing is left behind", {
  file <- file_with(as.raw(1:3))
  expect_null(end_digest(begin_digest(file), 4))
  expect_error(sha256(tempfile(), 0, 1), "cannot read")
  ended <- begin_digest(file)
  expect_equal(end_digest(ended, 3), sha256(file))
  expect_null(end_digest(ended, 3))
  expect_null(end_digest(begin_digest(tempfile()), 1))
  begin_digest(file) # given up: ends with its pointer
  expect_silent(invisible(gc()))
})

test_that("a part of a file is read in pieces, with the memory of one piece", {
  bytes <- random_bytes(1000)
  moved <- 0
  read <- body_reader(file_with(bytes), 100, 850, function(n) moved <<- moved + n)
  got <- raw()
  while (length(piece <- read(300))) got <- c(got, piece)
  expect_identical(got, bytes[101:950])
  expect_equal(moved, 850)
  expect_length(body_reader(file_with(raw()), 0, 0, identity)(10), 0)
})

test_that("a file that becomes shorter while it is sent is incomplete", {
  expect_error(body_reader(file_with(raw(10)), 0, 11, identity)(20), "shorter")
})
