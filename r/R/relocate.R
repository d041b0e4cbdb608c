#' Move and copy
#'
#' Moving keeps all properties and transfers no data. A copy shares its content with the original until one of
#' them is written; its attributes are copied as well.
#'
#' @param from A data object or a collection.
#' @param to The new path; or an existing collection, to move or copy into under the same name.
#' @param overwrite Whether to replace an existing data object.
#' @param recursive Whether to copy a collection with its contents.
#' @return The new logical path, or that of the copy, invisibly.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' imv("cars.rds", "vehicles.rds")
#' imkdir("old")
#' icp("vehicles.rds", "old")
#' icp("old", "older", recursive = TRUE)
#' ils("older")
#' for (path in c("vehicles.rds", "old", "older")) irm(path, recursive = TRUE)
#' @export
imv <- function(from, to, overwrite = FALSE) {
  check_flags(overwrite)
  relocate("move", from, to, replace = as.logical(overwrite))
}

#' @rdname imv
#' @export
icp <- function(from, to, overwrite = FALSE, recursive = FALSE) {
  check_flags(overwrite, recursive)
  tryCatch(
    relocate("copy", from, to, replace = as.logical(overwrite), recursive = as.logical(recursive)),
    cenote_wrong_kind = function(e) {
      if (recursive || !is_collection(absolute(from))) stop(e)
      stop_cenote("wrong-kind", paste0("it is a collection: ", absolute(from)), "use `recursive = TRUE` to copy it with its contents")
    }
  )
}

relocate <- function(route, from, to, ...) {
  from <- absolute(from)
  to <- absolute(to)
  if (to != from && is_collection(to)) to <- paste0(to, "/", last_name(from))
  tryCatch(native("POST", route, body = list(from = list(path = inside(from)), to = inside(to), ...)),
    cenote_exists = function(e) stop_cenote("exists", paste0("it already exists: ", to), "choose another name, or use `overwrite = TRUE`")
  )
  invisible(to)
}
