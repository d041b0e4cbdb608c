#' Add and remove attributes
#'
#' @param logical_path A data object or a collection.
#' @param entity_type Not needed; kept so that scripts for rirods run.
#' @param operations A data frame, or a list of lists, with `operation` (`"add"` or `"remove"`), `attribute`,
#'   `value` and, if it has any, `units`. All of them are done, or none.
#' @param admin Whether to use the rights of an administrator.
#' @param verbose Not used.
#' @return Nothing, invisibly.
#' @export
imeta <- function(logical_path, entity_type = character(1), operations = list(), admin = FALSE, verbose = FALSE) {
  path <- absolute(logical_path)
  endpoint <- if (is_collection(path)) "collections" else "data-objects"
  irods("POST", endpoint,
    op = "modify_metadata", lpath = path, admin = admin,
    operations = jsonlite::toJSON(checked_operations(operations), auto_unbox = TRUE)
  )
  invisible(NULL)
}

checked_operations <- function(operations) {
  if (is.data.frame(operations)) {
    operations <- lapply(seq_len(nrow(operations)), function(i) as.list(operations[i, , drop = FALSE]))
  }
  if (!is.list(operations) || !length(operations)) {
    stop_cenote("invalid", "`operations` is a data frame or a list of lists with at least one operation")
  }
  known <- c("operation", "attribute", "value", "units")
  for (operation in operations) {
    missing <- setdiff(known[1:3], names(operation))
    unknown <- setdiff(names(operation), known)
    if (length(missing)) stop_cenote("invalid", paste("an operation has no", missing[[1]]))
    if (length(unknown)) stop_cenote("invalid", paste("an operation has an unknown field:", unknown[[1]]))
  }
  lapply(operations, function(operation) lapply(operation, as.character))
}
