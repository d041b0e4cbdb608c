#' Save and read R objects
#'
#' @param x An R object.
#' @param logical_path The data object.
#' @param offset,count,truncate Have no effect; kept so that scripts for rirods run.
#' @param verbose Whether to show a progress bar.
#' @param overwrite Whether to replace what is there.
#' @param ticket A ticket to use.
#' @return `isaveRDS()` gives the logical path, invisibly; `ireadRDS()` the object.
#' @export
isaveRDS <- function(x, logical_path, offset = 0, count = 0, truncate = TRUE, verbose = FALSE,
                     overwrite = FALSE, ticket = NULL) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(x, file, compress = FALSE)
  iput(file, logical_path, verbose = verbose, overwrite = overwrite, ticket = ticket)
}

#' @rdname isaveRDS
#' @export
ireadRDS <- function(logical_path, offset = 0, count = 0, verbose = FALSE, ticket = NULL) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(c(file, paste0(file, ".part"))))
  get_files(absolute(logical_path), file, verbose, FALSE, ticket, FALSE)
  readRDS(file)
}
