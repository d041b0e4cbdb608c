# The bytes of local files, in C: they are hashed and sent without passing through R's memory.

# Starts a thread that computes a digest of a file, or of a part of it. Without a `length` the thread waits for the file to
# appear and follows it while it grows, until the digest is ended. The algorithms are "sha-256" and "crc64nvme".
begin_digest <- function(file, offset = 0, length = NA_real_, algorithm = "sha-256") {
  .Call(digest_begin, native_path(file), as.numeric(offset), as.numeric(length), algorithm)
}

# The digest of the first `length` bytes, as raw bytes; NULL if the file has fewer, or if the digest has ended. Without a `length`
# the digest is abandoned.
end_digest <- function(digest, length = NA_real_) .Call(digest_end, digest, as.numeric(length))

sha256 <- function(file, offset = 0, length = file.size(file) - offset) {
  end_digest(begin_digest(file, offset, length), length)
}

crc64nvme <- function(file, offset = 0, length = file.size(file) - offset) {
  end_digest(begin_digest(file, offset, length, "crc64nvme"), length)
}

# A function that returns at most `n` bytes per call, and none at the end.
body_reader <- function(file, offset, length, tick) {
  reader <- .Call(reader_open, native_path(file), as.numeric(offset), as.numeric(length))
  function(n) {
    piece <- .Call(reader_next, reader, as.numeric(n))
    tick(length(piece))
    piece
  }
}

native_path <- function(file) enc2native(path.expand(file))

hexadecimal <- function(bytes) paste(as.character(bytes), collapse = "")

# Bytes from lower-case hexadecimal digits.
binary <- function(digits) {
  if (is.null(digits)) return()
  values <- utf8ToInt(digits)
  values <- values - ifelse(values > 57L, 87L, 48L)
  as.raw(values[c(TRUE, FALSE)] * 16L + values[c(FALSE, TRUE)])
}
