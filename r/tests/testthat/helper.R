file_with <- function(bytes) {
  file <- tempfile()
  writeBin(bytes, file)
  file
}

random_bytes <- function(n) as.raw(sample.int(256, n, TRUE) - 1L)

bytes_of <- function(file) readBin(file, "raw", file.size(file))

add <- function(attribute, value, ...) data.frame(operation = "add", attribute = attribute, value = value, ...)

# Logs in as a user created for the test, and as the administrator again at its end.
as_user <- function(name, test = parent.frame()) {
  iadmin(name, "secret", "create_user")
  at_end(function() {
    iauth(name, "secret")
    for (path in ils()$logical_path) irm(path, recursive = TRUE)
    iauth("rods", "rods")
    iadmin(name, action = "remove_user")
  }, test)
  iauth(name, "secret")
}

# Runs a function when a frame ends.
at_end <- function(f, frame) do.call(on.exit, list(as.call(list(f)), add = TRUE), envir = frame)

# The address of a proxy to the server that closes a connection after some bytes to the server (`up`) or from it
# (`down`), `times` times. It ends with the R session.
breaking_proxy <- function(up = Inf, down = Inf, times = 1) {
  announced <- tempfile()
  beside("proxy.R", announced, c(server, announced, up, down, times, Sys.getpid()))
}

# The address of a server that sends the same response to all requests, or prepared ones in turn, or interrupts this
# session (status "interrupt"). It ends with the R session.
answering <- function(status, body = "", headers = character()) {
  announced <- tempfile()
  beside("answer.R", announced, c(announced, status, shQuote(body), Sys.getpid(), shQuote(headers)))
}

directory_of_tests <- dirname(normalizePath(testthat::test_path("helper.R")))

# Runs a script in the background; returns the address of the port that it writes to a file.
beside <- function(script, announced, arguments) {
  system2(file.path(R.home("bin"), "Rscript"), c(file.path(directory_of_tests, script), arguments),
    wait = FALSE, stdout = FALSE, stderr = FALSE
  )
  for (attempt in 1:500) {
    if (isTRUE(file.size(announced) > 0)) return(paste0("http://127.0.0.1:", readLines(announced)))
    Sys.sleep(0.02)
  }
  stop(script, " does not answer")
}

# Works in a new directory until the end of the test.
in_new_directory <- function(test = parent.frame()) {
  dir <- tempfile()
  dir.create(dir)
  before <- setwd(dir)
  at_end(function() setwd(before), test)
}

# The number of threads of this process.
threads <- function() length(list.files("/proc/self/task"))

# A sparse file of many zeros.
sparse <- function(size) {
  file <- tempfile()
  sink <- file(file, "wb")
  on.exit(close(sink))
  seek(sink, size - 1, rw = "write")
  writeBin(raw(1), sink)
  file
}

checksum_of <- function(file) paste0("sha2:", jsonlite::base64_enc(sha256(file)))

# Enters the tests' collection through another address.
through <- function(address) {
  create_irods(address, overwrite = TRUE)
  iauth("rods", "rods")
  icd("tests")
}

directly <- function() through(server)

absolute_all <- function(paths) vapply(paths, absolute, character(1), USE.NAMES = FALSE)
