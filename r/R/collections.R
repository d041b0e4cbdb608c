#' Make a collection
#'
#' @param logical_path The collection.
#' @param create_parent_collections Whether to make the collections on the way, too.
#' @param overwrite Whether it is no error that it is there.
#' @param verbose Not used.
#' @return The logical path, invisibly.
#' @examplesIf is_connected_irods()
#' imkdir("runs/2026", create_parent_collections = TRUE)
#' ils("runs")
#' irm("runs", recursive = TRUE)
#' @export
imkdir <- function(logical_path, create_parent_collections = FALSE, overwrite = FALSE, verbose = FALSE) {
  path <- absolute(logical_path)
  check_flags(overwrite)
  parents <- isTRUE(as.logical(create_parent_collections))
  made <- tryCatch(
    irods("POST", "collections", op = "create", lpath = path, `create-intermediates` = parents),
    cenote_not_found = function(e) {
      stop_cenote("not-found", paste("there is no collection that you may read:", above(path)),
        "use `create_parent_collections = TRUE` to make the collections on the way, too"
      )
    }
  )
  if (!made$created && !overwrite) stop_cenote("exists", paste0("it is there already: ", path))
  invisible(path)
}

#' Remove a data object or a collection
#'
#' @param logical_path What to remove.
#' @param force Whether to remove it for good; else it goes into your trash.
#' @param recursive Whether to remove a collection with all that is in it.
#' @param catalog_only Whether to leave the bytes where they are, if they were registered in place.
#' @param verbose Not used.
#' @return The logical path, invisibly.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' irm("cars.rds")
#' @export
irm <- function(logical_path, force = TRUE, recursive = FALSE, catalog_only = FALSE, verbose = FALSE) {
  path <- absolute(logical_path)
  check_flags(force, recursive, catalog_only)
  if (is_collection(path)) {
    irods("POST", "collections", op = "remove", lpath = path, recurse = recursive, `no-trash` = force)
  } else {
    irods("POST", "data-objects",
      op = "remove", lpath = path, `no-trash` = force && !catalog_only, `catalog-only` = catalog_only
    )
  }
  invisible(path)
}
