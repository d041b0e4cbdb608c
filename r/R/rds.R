#' Save and read R objects
#'
#' @param x An R object.
#' @param logical_path The data object.
#' @param offset,count,truncate Accepted, and without effect: an R object is one whole.
#' @param verbose Whether to show a progress bar.
#' @param overwrite Whether to replace what is there.
#' @param ticket A ticket to use.
#' @return `isaveRDS()` gives a data frame as [iput()] does, invisibly; `ireadRDS()` the R object.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' head(ireadRDS("cars.rds"))
#' @export
isaveRDS <- function(x, logical_path, offset = 0, count = 0, truncate = TRUE, verbose = FALSE,
                     overwrite = FALSE, ticket = NULL) {
  path <- absolute(logical_path)
  check_flags(verbose, overwrite)
  file <- tempfile(fileext = ".rds")
  on.exit(remove_files(file))
  saveRDS(x, file, compress = FALSE) # rirods reads no compressed ones
  put_files(file, path, list(overwrite = overwrite, ticket = ticket, resume = FALSE), verbose)[-2] |>
    invisible()
}

#' @rdname isaveRDS
#' @export
ireadRDS <- function(logical_path, offset = 0, count = 0, verbose = FALSE, ticket = NULL) {
  path <- absolute(logical_path)
  file <- tempfile(fileext = ".rds")
  on.exit(remove_files(c(file, parts_of(file))))
  get_file(path, file, list(offset = 0, overwrite = FALSE, ticket = ticket, resume = FALSE), verbose)
  tryCatch(suppressWarnings(readRDS(file)), error = function(e) {
    stop_cenote("invalid", paste0("it holds no R object (", conditionMessage(e), "): ", path), "`iget()` gets it as it is")
  })
}
