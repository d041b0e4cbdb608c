#' Save and read R objects
#'
#' @param x An R object.
#' @param logical_path The data object.
#' @param offset,count,truncate Accepted for compatibility, without effect: an R object is always transferred whole.
#' @param verbose Whether to show a progress bar with the transfer rate.
#' @param overwrite Whether to replace existing objects: `TRUE`, `FALSE`, or `"changed"`, which replaces only objects that differ.
#' @param ticket A ticket to use.
#' @return `isaveRDS()` returns a data frame like that of [iput()], invisibly; `ireadRDS()` returns the R object.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' head(ireadRDS("cars.rds"))
#' irm("cars.rds")
#' @export
isaveRDS <- function(x, logical_path, offset = 0, count = 0, truncate = TRUE, verbose = FALSE,
                     overwrite = FALSE, ticket = NULL) {
  path <- absolute(logical_path)
  check_flags(verbose)
  how <- c(overwriting(overwrite), list(ticket = ticket, resume = FALSE))
  file <- tempfile(fileext = ".rds")
  on.exit(remove_files(file))
  saveRDS(x, file, compress = FALSE) # rirods reads no compressed ones
  saved <- put_file(file, path, how, verbose)
  invisible(saved[names(saved) != "local_path"])
}

#' @rdname isaveRDS
#' @export
ireadRDS <- function(logical_path, offset = 0, count = 0, verbose = FALSE, ticket = NULL) {
  path <- absolute(logical_path)
  file <- tempfile(fileext = ".rds")
  on.exit(remove_files(c(file, parts_of(file))))
  get_file(path, file, list(offset = 0, overwrite = FALSE, changed = FALSE, ticket = ticket, resume = FALSE), verbose)
  tryCatch(suppressWarnings(readRDS(file)), error = function(e) {
    stop_cenote("invalid", paste0("it is not an R object (", conditionMessage(e), "): ", path), "use `iget()` to get it as a file")
  })
}
