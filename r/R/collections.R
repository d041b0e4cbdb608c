#' Create a collection
#'
#' @param logical_path The collection.
#' @param create_parent_collections Whether to create missing parent collections.
#' @param overwrite Whether to succeed if the collection already exists.
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
      stop_cenote("not-found", paste("no such collection, or you may not read it:", above(path)),
        "use `create_parent_collections = TRUE` to make the collections on the way, too"
      )
    }
  )
  if (!made$created && !overwrite) stop_cenote("exists", paste0("it already exists: ", path))
  invisible(path)
}

#' Remove a data object or a collection
#'
#' @param logical_path The data object or collection to remove.
#' @param force Whether to remove it permanently, instead of moving it to your trash.
#' @param recursive Whether to remove a collection with its contents.
#' @param catalog_only Whether to keep the file of an object that was registered in place.
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
