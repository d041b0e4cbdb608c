# Errors of class `cenote_error`, with a hint on how to proceed. Subclasses give the kind of error: `cenote_not_found`,
# `cenote_denied`, `cenote_exists`, `cenote_not_empty`, `cenote_wrong_kind`, `cenote_unauthenticated`, `cenote_mismatch`,
# `cenote_invalid`, `cenote_quota`, `cenote_busy`, `cenote_unreachable`; others are named as the server names them.

stop_cenote <- function(kind, message, hint = hints[[kind]]) {
  text <- if (is.null(hint)) message else paste0(message, "\n  hint: ", hint)
  classes <- c(paste0("cenote_", gsub("-", "_", kind)), "cenote_error", "error", "condition")
  stop(structure(class = classes, list(message = text, hint = hint, call = NULL)))
}

# Signals the condition that R signals when the user interrupts it.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

hints <- list(
  "denied" = "ask its owner for access, or log in as another user",
  "exists" = "choose another name, or use `overwrite = TRUE`; `overwrite = \"changed\"` skips identical files",
  "mismatch" = "call again",
  "not-empty" = "use `recursive = TRUE` to remove it with its contents",
  "not-found" = "check the spelling with `ils()`, or whether you may read it",
  "quota" = "remove something with `irm()`, or ask for a higher quota",
  "unauthenticated" = "log in again with `iauth()`",
  "unreachable" = "check that the server is running and that its address is correct"
)

# Hints that take precedence over those of a kind, by the beginning of the server's message.
hints_by_words <- list(
  "no such specific query" = "specific queries are stored by an administrator",
  "no such user" = "use `iquery(\"select USER_NAME\")` to list the users",
  "not empty" = "remove its contents first",
  "the name is taken" = "choose another name",
  "the server answered with status 3" = "the address redirects: pass the address of the server itself to `create_irods()`",
  "the ticket" = "ask its owner for a new one"
)

hint_of <- function(kind, message) {
  begins <- startsWith(message, names(hints_by_words))
  if (any(begins)) hints_by_words[begins][[1]] else hints[[kind]]
}

# Kinds of error by iRODS error code.
codes <- c(
  "-13000" = "denied", "-79000" = "not-empty", "-110000" = "quota", "-130000" = "invalid", "-170000" = "not-found",
  "-171000" = "not-found", "-312000" = "exists", "-358000" = "not-found", "-808000" = "not-found",
  "-809000" = "exists", "-816000" = "invalid", "-818000" = "denied", "-821000" = "not-empty", "-826000" = "unauthenticated",
  "-827000" = "not-found", "-833000" = "exists", "-853000" = "not-found", "-890000" = "unauthenticated"
)

# Messages for codes that are sent without one.
meanings <- c("-170000" = "no such collection", "-171000" = "no such data object")

# `about` is the requested path; it is added if the server's message has no path.
stop_code <- function(code, message = NULL, about = NULL) {
  code <- as.character(code)
  kind <- codes[code]
  if (is.na(kind)) kind <- "refused"
  if (is.null(message) || !nzchar(message)) message <- unname(meanings[code])
  if (is.na(message)) message <- paste("the server refused, with code", code)
  message <- in_zone(sub(": [A-Z]+(_[A-Z]+)+$", "", message)) # the name that iRODS has for the code
  if (!is.null(about) && !grepl("/", message, fixed = TRUE)) message <- paste0(message, ": ", about)
  stop_cenote(kind, message, hint_of(kind, message))
}

# The server's messages contain paths from the root of the store; these become logical paths.
in_zone <- function(text) {
  if (is.null(state$info) || grepl(paste0(" ", zone(), "(/|$)"), text)) return(text)
  sub("/$", "", sub(" /", paste0(" ", zone(), "/"), text, fixed = TRUE))
}

# Signals an error for responses with an unexpected status; by default, success is expected.
check_status <- function(answer, about = NULL, expected = 200:299) {
  if (answer$status_code %in% expected) return(answer)
  body <- tryCatch(jsonlite::parse_json(rawToChar(answer$content), simplifyVector = TRUE), error = function(e) list())
  response <- if (is.list(body)) body$irods_response
  if (!is.null(response$status_code)) {
    stop_code(response$status_code, paste(c(response$status_message, response$failed_operation$error_message),
      collapse = "; "
    ), about)
  }
  stop_problem(answer$status_code, if (is.list(body)) body else list())
}

# A problem document (RFC 9457), or a bare status.
stop_problem <- function(status, problem) {
  kind <- sub("^urn:cenote:problem:", "", problem$type %or% kind_of_status(status))
  if (kind == "precondition") kind <- "exists" # requests set no other condition
  detail <- problem$detail %or% paste("the server answered with status", status)
  stop_cenote(kind, in_zone(detail), hint_of(kind, detail) %or% problem$hint)
}

kind_of_status <- function(status) {
  switch(as.character(status),
    "401" = "unauthenticated", "403" = "denied", "404" = "not-found", "409" = "exists", "412" = "exists",
    "422" = "mismatch", "429" = "overloaded", "503" = "overloaded", "invalid"
  )
}

# Refuses values that are not a number of bytes or entries.
check_count <- function(x, name) {
  if (is.numeric(x) && length(x) == 1 && isTRUE(x >= 0)) return(invisible())
  stop_cenote("invalid", paste0("`", name, "` must be one number that is not negative"))
}

# Refuses arguments that are not TRUE or FALSE; errors use the names of the arguments.
check_flags <- function(...) {
  names <- as.character(substitute(list(...)))[-1]
  for (i in seq_along(names)) {
    flag <- ...elt(i)
    if ((is.logical(flag) || is.numeric(flag)) && length(flag) == 1 && !is.na(flag)) next
    stop_cenote("invalid", paste0("`", names[[i]], "` must be TRUE or FALSE"))
  }
}

# The meaning of `overwrite`: whether to replace existing files, and whether only those that differ.
overwriting <- function(overwrite) {
  if (identical(overwrite, "changed")) return(list(overwrite = TRUE, changed = TRUE))
  if (is.character(overwrite)) stop_cenote("invalid", "`overwrite` must be TRUE, FALSE or \"changed\"")
  check_flags(overwrite)
  list(overwrite = as.logical(overwrite), changed = FALSE)
}

`%or%` <- function(x, y) if (is.null(x)) y else x
