test_that("the SHA-256 is that of the standard", {
  file <- file_with(charToRaw("abc"))
  expect_equal(hexadecimal(sha256(file)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  expect_equal(substr(hexadecimal(sha256(file_with(raw()))), 1, 16), "e3b0c44298fc1c14")
  expect_equal(sha256(file_with(charToRaw("xabcx")), 1, 3), sha256(file))
})

test_that("a digest follows a file that grows", {
  bytes <- random_bytes(1e6)
  file <- tempfile()
  digest <- begin_digest(file) # from before it is there
  sink <- file(file, "ab")
  for (piece in split(bytes, rep(1:10, each = 1e5))) {
    writeBin(piece, sink)
    flush(sink)
  }
  close(sink)
  expect_equal(end_digest(digest, 1e6), sha256(file_with(bytes)))
})

test_that("a digest does not mistake the end of what has come for the end", {
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

test_that("a digest of more bytes than there are is none, and none is left behind", {
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

test_that("part of a file is read in pieces, with the memory of one", {
  bytes <- random_bytes(1000)
  moved <- 0
  read <- body_reader(file_with(bytes), 100, 850, function(n) moved <<- moved + n)
  got <- raw()
  while (length(piece <- read(300))) got <- c(got, piece)
  expect_identical(got, bytes[101:950])
  expect_equal(moved, 850)
  expect_length(body_reader(file_with(raw()), 0, 0, identity)(10), 0)
})

test_that("a file that becomes shorter while it is sent is no whole file", {
  expect_error(body_reader(file_with(raw(10)), 0, 11, identity)(20), "shorter")
})
