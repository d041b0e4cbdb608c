#' Set permissions
#'
#' A permission applies to one user or group, and to one data object or collection. Data objects and collections that are created
#' in a collection with `"inherit"` get its permissions. `ils(permissions = TRUE)` shows permissions.
#'
#' @param logical_path A data object or a collection.
#' @param permission `"null"` (which removes a permission), `"read"`, `"write"`, `"own"`, or one of the levels between them, such as
#'   `"create_metadata"`; or, for a collection, `"inherit"` or `"noinherit"`.
#' @param name The name of a user or a group; `"public"` means everyone.
#' @param recursive Whether to apply the change to everything below a collection as well.
#' @param admin Whether to use the rights of an administrator.
#' @return The logical path, invisibly.
#' @examplesIf is_connected_irods()
#' imkdir("shared")
#' ichmod("shared", "inherit")
#' isaveRDS(mtcars, "shared/cars.rds")
#' ichmod("shared", "read", "public", recursive = TRUE)
#' ils("shared", permissions = TRUE)
#' irm("shared", recursive = TRUE)
#' @export
ichmod <- function(logical_path, permission, name = NULL, recursive = FALSE, admin = FALSE) {
  check_flags(recursive, admin)
  if (!is_text(permission) || !permission %in% permissions) {
    stop_cenote("invalid", paste("`permission` must be one of", toString(dQuote(permissions, FALSE))))
  }
  inherit <- permission %in% c("inherit", "noinherit")
  if (inherit != is.null(name) || !(inherit || is_text(name))) {
    stop_cenote("invalid", "`name` must be one user or group; with \"inherit\" and \"noinherit\" it must be missing")
  }
  path <- absolute(logical_path)
  about <- paths_and_kinds(path, recursive, if (inherit) "collection" else c("collection", "object"))
  form <- if (inherit) {
    list(op = "set_inheritance", enable = permission == "inherit", admin = admin)
  } else {
    list(op = "set_permission", `entity-name` = name, permission = permission, admin = admin)
  }
  each_request(nrow(about), function(i) {
    endpoint <- if (about$kind[[i]] == "collection") "collections" else "data-objects"
    list(handle = form_handle(endpoint, c(form, lpath = about$path[[i]])), done = function(answer) {
      checked(json_of(check_status(answer, about$path[[i]])), about$path[[i]])
    })
  })
  invisible(path)
}

permissions <- c(
  "null", "read_metadata", "read", "read_object", "create_metadata", "modify_metadata", "delete_metadata", "create_object",
  "write", "modify_object", "delete_object", "own", "inherit", "noinherit"
)

# A path and, if `recursive`, the paths of these kinds below it.
paths_and_kinds <- function(path, recursive, kinds) {
  about <- data.frame(path = path, kind = if (is_collection(path)) "collection" else "object", stringsAsFactors = FALSE)
  if (recursive && about$kind == "collection") about <- rbind(about, stored_below(path, NULL)[c("path", "kind")])
  about[about$kind %in% kinds, ]
}

# A handle for an operation of the iRODS HTTP API that changes something.
form_handle <- function(endpoint, form) {
  curl::handle_setopt(handle(), url = api(endpoint), post = TRUE, postfields = encode(form))
}
