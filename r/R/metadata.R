#' Add and remove attributes
#'
#' @param logical_path A data object or a collection; the name of a user, with `entity_type = "user"`.
#' @param entity_type `"user"` for a user; otherwise not needed.
#' @param operations A data frame, or a list of lists, with `operation` (`"add"` or `"remove"`), `attribute`,
#'   `value` and, optionally, `units`. Either all of them are applied, or none.
#' @param admin Whether to use the rights of an administrator.
#' @param verbose Not used.
#' @return The logical path, invisibly.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' imeta("cars.rds", operations = data.frame(operation = "add", attribute = "year", value = "1974"))
#' imeta("cars.rds", operations = list(
#'   list(operation = "remove", attribute = "year", value = "1974"),
#'   list(operation = "add", attribute = "mass", value = "3", units = "t")
#' ))
#' ils("cars.rds", metadata = TRUE)
#' irm("cars.rds")
#' @export
imeta <- function(logical_path, entity_type = c("data_object", "collection", "user"), operations = list(),
                  admin = FALSE, verbose = FALSE) {
  entity_type <- match.arg(entity_type)
  operations <- jsonlite::toJSON(checked_operations(operations), auto_unbox = TRUE)
  if (entity_type == "user") {
    irods("POST", "users-groups", op = "modify_metadata", name = logical_path, operations = operations)
    return(invisible(logical_path))
  }
  path <- absolute(logical_path)
  irods("POST", endpoint_of(path), op = "modify_metadata", lpath = path, admin = admin, operations = operations)
  invisible(path)
}

# A list of lists of strings, each with the fields of an operation.
checked_operations <- function(operations) {
  if (is.data.frame(operations)) {
    operations <- lapply(seq_len(nrow(operations)), function(i) as.list(operations[i, , drop = FALSE]))
  }
  if (!is.list(operations)) stop_cenote("invalid", "`operations` must be a list of lists or a data frame")
  lapply(operations, checked_operation)
}

checked_operation <- function(operation) {
  known <- c("operation", "attribute", "value", "units")
  if (!is.list(operation) || is.null(names(operation))) {
    stop_cenote("invalid", "each of the `operations` must be a named list",
      "a single one is in a list, too: `list(list(operation = \"add\", attribute = \"year\", value = \"1974\"))`"
    )
  }
  unknown <- setdiff(names(operation), known)
  if (length(unknown)) {
    stop_cenote("invalid", paste0(
      "an operation has an unknown field, \"", unknown[[1]], "\"; there are ", toString(dQuote(known, FALSE))
    ))
  }
  if (!isTRUE(operation$operation %in% c("add", "remove"))) {
    stop_cenote("invalid", "the `operation` of each of the `operations` must be \"add\" or \"remove\"")
  }
  missing <- setdiff(known[1:3], names(operation))
  if (length(missing)) stop_cenote("invalid", paste("an operation has no", missing[[1]]))
  if (isTRUE(is.na(operation$units))) operation$units <- NULL
  for (field in names(operation)) check_field(operation[[field]], field)
  lapply(operation, text_of)
}

check_field <- function(value, field) {
  if (!is.atomic(value) || length(value) != 1 || is.na(value)) {
    stop_cenote("invalid", paste0("the `", field, "` of an operation must be one value that is not missing"))
  }
  if (field == "attribute" && value == "") stop_cenote("invalid", "the `attribute` of an operation is empty")
}
