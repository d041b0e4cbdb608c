#' Create, change and remove users
#'
#' @param name The name of the user.
#' @param password The password, for `"create_user"` and `"set_password"`.
#' @param action `"create_user"`, `"set_password"` or `"remove_user"`.
#' @param role `"rodsuser"`, `"groupadmin"` or `"rodsadmin"`.
#' @param verbose Not used.
#' @return The name, invisibly.
#' @examples
#' \dontrun{
#' iadmin("ada", "a password", "create_user")
#' iadmin("ada", "another one", "set_password")
#' iadmin("ada", action = "remove_user")
#' }
#' @export
iadmin <- function(name, password = character(1), action = c("create_user", "set_password", "remove_user"),
                   role = c("rodsuser", "groupadmin", "rodsadmin"), verbose = FALSE) {
  action <- match.arg(action)
  role <- match.arg(role)
  if (!is_text(name)) stop_cenote("invalid", "`name` must be one name")
  if (!is.character(password) || length(password) != 1 || is.na(password)) stop_cenote("invalid", "`password` must be one string")
  if (action == "set_password" && password == "") stop_cenote("invalid", "`password` is empty")
  users <- function(op, ...) irods("POST", "users-groups", op = op, name = name, zone = sub("/", "", zone()), ...)
  if (action == "create_user") users("create_user", `user-type` = role)
  if (action == "remove_user") users("remove_user")
  if (action == "set_password" || (action == "create_user" && nzchar(password))) {
    users("set_password", `new-password` = password)
    if (identical(name, state$user)) remember_password(password)
  }
  invisible(name)
}
