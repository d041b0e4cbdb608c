file_with <- function(bytes) {
  file <- tempfile()
  writeBin(bytes, file)
  file
}
