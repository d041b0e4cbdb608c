# Serves one user of the R package `cenote`: each request is a line of JSON on standard input, each response a line on standard output.
suppressPackageStartupMessages({
  library(cenote)
  library(jsonlite)
})

zone <- "/tempZone"
logical_of <- function(path) if (path == "/") zone else paste0(zone, path)

# The row of `ils` for a data object, with its columns. A collection has none: its contents are listed.
row_of <- function(path) {
  rows <- as.data.frame(ils(logical_of(path), stat = TRUE, message = FALSE))
  own <- which(rows$logical_path == logical_of(path))
  if (length(own)) as.list(rows[own, ]) else list(type = "collection")
}

verbs <- list(
  put = function(path, file) iput(file, logical_of(path), overwrite = TRUE),
  get = function(path, file) iget(logical_of(path), file, overwrite = TRUE),
  entry = function(path) row_of(path),
  checksum = function(path) ichksum(logical_of(path)),
  names = function(path) basename(as.data.frame(ils(logical_of(path), message = FALSE))$logical_path),
  mkdir = function(path) imkdir(logical_of(path)),
  move = function(path, to) imv(logical_of(path), logical_of(to)),
  copy = function(path, to) icp(logical_of(path), logical_of(to)),
  remove = function(path) irm(logical_of(path), recursive = TRUE),
  meta = function(path, operation) imeta(logical_of(path), operations = list(operation)),
  query = function(text) unname(lapply(asplit(as.matrix(iquery(text)), 1), unname)),
  grant = function(path, user, level) ichmod(logical_of(path), level, user)
)

answer <- function(request) {
  tryCatch(
    list(value = do.call(verbs[[request$verb]], request$args)),
    error = function(e) list(error = conditionMessage(e), class = class(e)[[1]])
  )
}

args <- commandArgs(trailingOnly = TRUE)
suppressMessages(create_irods(args[[1]], overwrite = TRUE))
suppressMessages(iauth(args[[2]], Sys.getenv("MATRIX_PASSWORD")))
cat("ready\n")
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1))) {
  sink(stderr())
  result <- suppressMessages(answer(fromJSON(line, simplifyVector = FALSE)))
  sink()
  cat(toJSON(result, auto_unbox = TRUE, null = "null", digits = NA), "\n", sep = "")
}
