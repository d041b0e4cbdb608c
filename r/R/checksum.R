#' Checksums
#'
#' The server computes the SHA-256 of an object when it is stored. With `verify = TRUE` it reads the stored bytes again and compares them with the checksum.
#'
#' @param logical_path A data object, or a collection with `recursive = TRUE`.
#' @param recursive Whether to include all data objects below a collection.
#' @param force Whether to recompute known checksums from the stored bytes.
#' @param verify Whether to read every replica and compare it with its checksum; differences are reported as an error of class `cenote_mismatch`.
#' @param admin Whether to use the rights of an administrator.
#' @return A data frame with a row for each data object: `logical_path` and `checksum`, in iRODS notation.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' ichksum("cars.rds", verify = TRUE)
#' irm("cars.rds")
#' @export
ichksum <- function(logical_path, recursive = FALSE, force = FALSE, verify = FALSE, admin = FALSE) {
  check_flags(recursive, force, verify, admin)
  path <- absolute(logical_path)
  if (!recursive && is_collection(path)) {
    stop_cenote("wrong-kind", paste0("it is a collection: ", path), "use `recursive = TRUE` to include all data objects in it")
  }
  paths <- paths_and_kinds(path, recursive, "object")$path
  checksums <- rep(NA_character_, length(paths))
  of_each <- function(handle, done) {
    each_request(length(paths), function(i) {
      list(handle = handle(paths[[i]]), done = function(answer) done(i, json_of(check_status(answer, paths[[i]]))))
    })
  }
  if (verify) of_each(function(path) {
    handle(url = with_query(api("data-objects"), op = "verify_checksum", lpath = path, admin = admin))
  }, function(i, body) check_verified(body, paths[[i]]))
  of_each(function(path) {
    form_handle("data-objects", list(op = "calculate_checksum", lpath = path, force = force, admin = admin))
  }, function(i, body) checksums[[i]] <<- checked(body, paths[[i]])$checksum)
  data.frame(logical_path = paths, checksum = checksums, stringsAsFactors = FALSE)
}

check_verified <- function(body, path) {
  if (is.null(body$results)) return(checked(body, path))
  stop_cenote("mismatch", paste0(path, ": ", paste(body$results$message, collapse = "; ")), "put it again, or inform the administrator of the store")
}
