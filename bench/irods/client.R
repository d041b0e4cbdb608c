# The package being measured, the one in the first library: cenote, or a rirods for one of two protocols.

library <- .libPaths()[[1]]
package <- intersect(c("cenote", "rirods"), list.files(library))[[1]]
version <- as.character(packageVersion(package, library))
url <- Sys.getenv("CENOTE_URL")
suppressPackageStartupMessages(base::library(package, character.only = TRUE))

# rirods for the older protocol transfers `count` bytes per request.
piecewise <- package == "rirods" && packageVersion(package, library) < "0.2"

if (piecewise) {
  create_irods(paste0(url, "/irods-rest/0.9.3"), "/tempZone/home")
} else {
  create_irods(paste0(url, "/irods-http-api/0.2.0"), overwrite = TRUE)
}
iauth("rods", "rods")

# The matching requests in the log of the server from a line on: the seconds that each took, from the header of the
# request to the last byte of the response.
logged <- function() readLines(Sys.getenv("CENOTE_LOG"), warn = FALSE)
server_seconds <- function(since, pattern = "answered status=2") {
  lines <- grep(pattern, utils::tail(logged(), -since), value = TRUE)
  as.numeric(sub(".*seconds=([0-9.e-]+).*", "\\1", lines))
}

told <- function(number) format(number, big.mark = ",", scientific = FALSE)

# Runs an expression, and prints on stderr how long it took.
step <- function(what, work) {
  seconds <- system.time(force(work))[["elapsed"]]
  message(sprintf("%s %s: %s, %.1f s", package, version, what, seconds))
  invisible(work)
}

# One measurement as a row. If a call takes minutes, there is one iteration, after the one that measures memory. Each
# call warns that `count` is deprecated.
measured <- function(call, verb, size, slow = FALSE) {
  mark <- suppressWarnings(bench::mark(call(),
    min_iterations = if (slow) 1 else 5, max_iterations = if (slow) 1 else 100, filter_gc = FALSE, check = FALSE
  ))
  data.frame(
    package = paste(package, version), verb = verb, size = size, median = as.numeric(mark$median),
    mem_alloc = as.numeric(mark$mem_alloc), iterations = mark$n_itr
  )
}

keep <- function(rows, table) {
  file <- file.path(commandArgs(TRUE)[[1]], paste0(table, "-", package, "-", version, ".tsv"))
  write.table(do.call(rbind, rows), file, sep = "\t", quote = FALSE, row.names = FALSE)
}
