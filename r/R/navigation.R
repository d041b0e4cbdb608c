#' The current collection
#'
#' @return Its logical path.
#' @export
ipwd <- function() session()$wd

#' Go to another collection
#'
#' @param dir A logical path, from the current collection on or from `/`; `.` and `..` are understood.
#' @return The new current collection, invisibly.
#' @export
icd <- function(dir) {
  path <- absolute(dir)
  if (!is_collection(path)) {
    stop_cenote("not-found", paste0("not a collection: ", path), hints[["not-found"]])
  }
  state$wd <- path
  invisible(path)
}

# The logical path that is meant: absolute, without `.` and `..` and without `/` at the end.
absolute <- function(path) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    stop_cenote("invalid", "a logical path is one string")
  }
  if (!startsWith(path, "/")) path <- paste0(ipwd(), "/", path)
  names <- character()
  for (name in strsplit(path, "/", fixed = TRUE)[[1]]) {
    if (name == "..") names <- utils::head(names, -1) else if (!name %in% c("", ".")) names <- c(names, name)
  }
  paste0("/", paste(names, collapse = "/"))
}

stat_of <- function(endpoint, path) {
  tryCatch(irods("GET", endpoint, op = "stat", lpath = path), cenote_not_found = function(e) NULL)
}

is_collection <- function(path) !is.null(stat_of("collections", path))
