# Invariant: where the server is, who is logged in and the current collection live here, and nowhere else.

state <- new.env(parent = emptyenv())

#' Say where the server is
#'
#' @param host The address of the server: `"http://localhost:8470"`. An address of its iRODS HTTP API is the same.
#' @param zone_path Not needed; kept so that scripts for rirods run.
#' @param overwrite Whether to replace an address that was said before.
#' @return The address, invisibly.
#' @export
create_irods <- function(host, zone_path = character(1), overwrite = FALSE) {
  if (!is.null(state$host) && !overwrite && !identical(state$host, base_of(host))) {
    stop_cenote("exists", paste0("a server is set already: ", state$host), "use `overwrite = TRUE`")
  }
  rm(list = ls(state), envir = state)
  state$host <- base_of(host)
  invisible(state$host)
}

base_of <- function(host) sub("/+$", "", sub("/(irods-http-api|irods-rest)(/.*)?$", "", host))

#' Log in
#'
#' @param user The name of the user.
#' @param password The password; asked for, if it is not given.
#' @param role Where to begin: in the home of the user (`"rodsuser"`), above it (`"groupadmin"`), or at the top of the
#'   zone (`"rodsadmin"`).
#' @return Nothing, invisibly.
#' @export
iauth <- function(user, password = NULL, role = "rodsuser") {
  if (is.null(password)) password <- ask_password()
  answer <- call_irods("POST", "authenticate", userpwd = paste0(user, ":", password), login = TRUE)
  state$token <- rawToChar(answer$content)
  state$user <- user
  state$info <- irods("GET", "info")
  state$wd <- switch(role,
    rodsuser = paste0("/", state$info$irods_zone, "/home/", user),
    groupadmin = paste0("/", state$info$irods_zone, "/home"),
    paste0("/", state$info$irods_zone)
  )
  invisible(NULL)
}

ask_password <- function() {
  if (!requireNamespace("askpass", quietly = TRUE)) {
    stop_cenote("invalid", "no password was given", "give it as `password`, or install `askpass`")
  }
  askpass::askpass()
}

#' Whether somebody is logged in
#'
#' @param ... Not used.
#' @return `TRUE` or `FALSE`.
#' @export
is_connected_irods <- function(...) !is.null(state$token)

zone <- function() paste0("/", session()$info$irods_zone)

session <- function() {
  if (is.null(state$token)) {
    stop_cenote("unauthenticated", "nobody is logged in", "call `create_irods()` and `iauth()` first")
  }
  state
}
