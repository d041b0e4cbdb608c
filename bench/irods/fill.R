# Fills a collection with small objects, without a file for each: tar streams are built in memory and sent to `POST
# /v1/batch`. (A million files would have to be created and removed, and on a disk that discards freed blocks each
# removal takes 1 ms.)

objects_a_request <- 25000

# The name of the object with a number; `fill` also uses the number as its content.
numbered <- function(i) sprintf("f%07d", i)

fill <- function(collection, n) {
  imkdir(collection)
  for (first in seq(1, n, by = objects_a_request)) {
    put_archive(collection, tar_of(seq(first, min(n, first + objects_a_request - 1))))
  }
}

put_archive <- function(collection, archive) {
  h <- curl::new_handle(customrequest = "POST", postfields = archive, httpauth = 1, userpwd = "rods:rods")
  curl::handle_setheaders(h, "Content-Type" = "application/x-tar")
  answer <- curl::curl_fetch_memory(paste0(url, "/v1/batch?path=/home/rods/", collection), h)
  said <- rawToChar(answer$content)
  if (answer$status_code != 200 || grepl('"problem"', said, fixed = TRUE)) stop("not all were put: ", substr(said, 1, 500))
}

# An archive of numbered objects: a column of 1,024 bytes for each, which differ in digits and in the checksum of the header.
tar_of <- function(numbers) {
  digits <- matrix(utf8ToInt(paste(sprintf("%07d", numbers), collapse = "")), 7)
  entries <- matrix(header_of(numbered(0), 7), 1024, length(numbers))
  entries[2:8, ] <- as.raw(digits)
  entries[513:519, ] <- as.raw(digits)
  sums <- sum(as.integer(header_of(numbered(0), 7))) + colSums(digits) - 7 * utf8ToInt("0")
  entries[149:154, ] <- charToRaw(paste(sprintf("%06o", as.integer(sums)), collapse = ""))
  c(entries, raw(1024))
}

# A POSIX ustar header and a block for the content. The checksum is computed with blanks in its place.
header_of <- function(name, size) {
  header <- raw(1024)
  at <- function(offset, text) header[offset + seq_len(nchar(text))] <<- charToRaw(text)
  at(0, name)
  at(100, "0000644")
  at(108, "0000000")
  at(116, "0000000")
  at(124, sprintf("%011o", size))
  at(136, "00000000000")
  at(148, "        ")
  at(156, "0")
  at(257, "ustar")
  at(263, "00")
  header
}
