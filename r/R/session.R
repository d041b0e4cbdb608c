# Invariant: the address of the server, the user's login and the current collection are kept here, and nowhere else.

state <- new.env(parent = emptyenv())

#' Set the address of the server
#'
#' The address is saved in a file of your configuration directory ([tools::R_user_dir()]), so that later sessions
#' need only [iauth()].
#'
#' @param host The address of the server, such as `"http://localhost:8470"`, or of its iRODS HTTP API.
#' @param zone_path Not used; accepted so that scripts for rirods run.
#' @param overwrite Whether to replace a saved address. This matters only in interactive sessions;
#'   scripts always replace it.
#' @return The file, invisibly.
#' @examples
#' \dontrun{
#' create_irods("http://localhost:8470")
#' iauth("ada")
#' }
#' @export
create_irods <- function(host, zone_path = character(1), overwrite = FALSE) {
  if (!is_text(host)) stop_cenote("invalid", "`host` must be one address, such as \"http://localhost:8470\"")
  if (!grepl("^https?://[^/]", host)) {
    stop_cenote("invalid", paste0("not the address of a server: ", host), "begin it with http:// or https://")
  }
  if (interactive() && file.exists(configuration()) && !overwrite) {
    stop_cenote("exists", "the address of a server is already saved", "use `overwrite = TRUE` to replace it")
  }
  dir.create(dirname(configuration()), showWarnings = FALSE, recursive = TRUE)
  writeLines(jsonlite::toJSON(list(host = host), auto_unbox = TRUE, pretty = TRUE), configuration())
  rm(list = ls(state), envir = state)
  invisible(configuration())
}

configuration <- function() file.path(tools::R_user_dir("cenote", "config"), "conf-irods.json")

# The address of the server, without the path of one of its openings.
host <- function() {
  if (is.null(state$host)) {
    if (!file.exists(configuration())) {
      stop_cenote("invalid", "no server has been set", "call `create_irods()` first")
    }
    remembered <- tryCatch(jsonlite::fromJSON(configuration())$host, error = function(e) NULL)
    if (!is_text(remembered)) {
      stop_cenote("invalid", "the saved address of the server cannot be read", "call `create_irods()` again")
    }
    state$host <- base_of(remembered)
  }
  state$host
}

base_of <- function(host) sub("/+$", "", sub("/(irods-http-api|irods-rest)(/.*)?$", "", host))

is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x) && nzchar(x)

#' Log in
#'
#' A login expires after some time. The session then logs in again automatically, with the password, which it keeps in memory
#' until the R session ends or [create_irods()] is called.
#'
#' @param user The name of the user.
#' @param password The password; if it is not given, you are asked for it.
#' @param role The initial collection: the home of the user (`"rodsuser"`), its parent (`"groupadmin"`), or the root of the
#'   zone (`"rodsadmin"`).
#' @return `NULL`, invisibly.
#' @examples
#' \dontrun{
#' iauth("ada") # asks for the password
#' }
#' @export
iauth <- function(user, password = NULL, role = "rodsuser") {
  if (!is_text(user)) stop_cenote("invalid", "`user` must be one name")
  if (!is_text(role) || !role %in% c("rodsuser", "groupadmin", "rodsadmin")) {
    stop_cenote("invalid", "`role` must be \"rodsuser\", \"groupadmin\" or \"rodsadmin\"")
  }
  if (is.null(password)) password <- ask_password()
  if (!is_text(password)) stop_cenote("invalid", "`password` must be one string that is not empty", "use the argument `password`")
  state$token <- login(user, password)
  state$user <- user
  remember_password(password)
  state$info <- irods("GET", "info")
  state$wd <- paste0(zone(), switch(role, rodsuser = paste0("/home/", user), groupadmin = "/home", ""))
  invisible(NULL)
}

# Kept in a function, so that printing the state does not show it.
remember_password <- function(password) {
  force(password)
  state$login <- function() login(state$user, password)
}

# Whether there is a token other than the refused one; a new one is requested if the server no longer knows the session's token.
token_renewed <- function(refused) {
  if (is.null(refused)) return(FALSE)
  if (identical(refused, state$token) && token_ended()) {
    state$token <- tryCatch(state$login(), cenote_error = function(e) refused)
  }
  !identical(refused, state$token)
}

# A request can also be refused for another reason, such as an invalid ticket.
token_ended <- function() {
  h <- handle()
  answer <- tryCatch(curl::curl_fetch_memory(paste0(host(), "/v1/whoami"), h), error = stop_unreachable)
  answer$status_code == 401 && !is.null(state$login)
}

ask_password <- function() {
  if (!requireNamespace("askpass", quietly = TRUE)) {
    stop_cenote("invalid", "no password was given", "use the argument `password`, or install `askpass`")
  }
  askpass::askpass()
}

#' Whether the session is logged in
#'
#' @param ... Not used.
#' @return `TRUE` or `FALSE`.
#' @examples
#' is_connected_irods()
#' @export
is_connected_irods <- function(...) !is.null(state$token)

zone <- function() paste0("/", state$info$irods_zone)

need_login <- function() {
  if (!is_connected_irods()) {
    stop_cenote("unauthenticated", "you are not logged in", "call `create_irods()` and `iauth()` first")
  }
}
