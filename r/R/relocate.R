#' Move and copy
#'
#' What is moved keeps all that is known of it; nothing is transferred. A copy shares its content with the original until one of
#' them is written, and gets its attributes, too.
#'
#' @param from A data object or a collection.
#' @param to Its new path; or a collection that is there, which it goes into under its name.
#' @param overwrite Whether to replace a data object that is there.
#' @param recursive Whether to copy a collection, with all that is in it.
#' @return The logical path that it has now, or that the copy has, invisibly.
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
      stop_cenote("wrong-kind", paste0("it is a collection: ", absolute(from)), "use `recursive = TRUE` to copy it with all that is in it")
    }
  )
}

relocate <- function(route, from, to, ...) {
  from <- absolute(from)
  to <- absolute(to)
  if (to != from && is_collection(to)) to <- paste0(to, "/", last_name(from))
  tryCatch(native("POST", route, body = list(from = list(path = inside(from)), to = inside(to), ...)),
    cenote_exists = function(e) stop_cenote("exists", paste0("it is there already: ", to), "choose another name, or use `overwrite = TRUE`")
  )
  invisible(to)
}
