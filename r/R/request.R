# Requests: the iRODS HTTP API for words, the native opening for bytes. One place turns answers into conditions.

handle <- function(...) {
  h <- curl::new_handle(connecttimeout = 10, ...)
  curl::handle_setheaders(h, .list = headers())
  h
}

headers <- function() {
  if (is.null(state$token)) return(list())
  list(Authorization = paste("Bearer", state$token))
}

send <- function(url, h, fetch = curl::curl_fetch_memory) {
  tryCatch(fetch(url, handle = h), error = function(e) {
    if (inherits(e, "cenote_error")) stop(e)
    stop_cenote("unreachable", conditionMessage(e), "is the server running, and its address right?")
  })
}

encode <- function(parameters) {
  values <- vapply(parameters, text_of, character(1))
  paste0(names(parameters), "=", curl::curl_escape(values), collapse = "&")
}

text_of <- function(value) {
  if (is.logical(value)) value <- as.integer(value)
  if (is.numeric(value)) format(value, scientific = FALSE, digits = 15) else as.character(value)
}

api <- function(endpoint) paste0(state$host, "/irods-http-api/0.7.0/", endpoint)

call_irods <- function(method, endpoint, parameters = list(), userpwd = NULL, login = FALSE) {
  if (is.null(state$host)) stop_cenote("invalid", "no server is set", "call `create_irods()` first")
  url <- api(endpoint)
  h <- handle()
  if (!is.null(userpwd)) {
    curl::handle_setheaders(h, Authorization = paste("Basic", jsonlite::base64_enc(charToRaw(userpwd))))
  }
  if (method == "POST") {
    curl::handle_setopt(h, post = TRUE, postfields = if (length(parameters)) encode(parameters) else "")
  } else if (length(parameters)) {
    url <- paste0(url, "?", encode(parameters))
  }
  check_status(send(url, h), if (login) "the user or the password is wrong")
}

irods <- function(method, endpoint, ...) {
  answer <- call_irods(method, endpoint, list(...))
  checked(jsonlite::fromJSON(rawToChar(answer$content)))
}

# An answer of the iRODS HTTP API may be a refusal with status 200.
checked <- function(body) {
  code <- body$irods_response$status_code
  if (!is.null(code) && code < 0) stop_code(code, body$irods_response$status_message)
  body
}

codes <- c(
  "-13000" = "denied", "-79000" = "not-empty", "-130000" = "invalid", "-170000" = "not-found",
  "-171000" = "not-found", "-312000" = "exists", "-358000" = "not-found", "-808000" = "not-found",
  "-809000" = "exists", "-818000" = "denied", "-826000" = "unauthenticated", "-827000" = "not-found",
  "-833000" = "exists"
)

hints <- list(
  "denied" = "ask its owner for access, or log in as somebody else",
  "exists" = "choose another name, or use `overwrite = TRUE`",
  "not-empty" = "use `recursive = TRUE` to remove what is in it, too",
  "not-found" = "check the spelling with `ils()`",
  "unauthenticated" = "log in again with `iauth()`"
)

stop_code <- function(code, message = NULL) {
  kind <- codes[as.character(code)]
  if (is.na(kind)) kind <- "refused"
  if (is.null(message)) message <- paste("the server refused, with code", code)
  stop_cenote(kind, message, hints[[kind]])
}

check_status <- function(answer, unauthenticated = NULL) {
  status <- answer$status_code
  if (status < 400) return(answer)
  body <- tryCatch(jsonlite::fromJSON(rawToChar(answer$content)), error = function(e) list())
  code <- body$irods_response$status_code
  if (!is.null(code)) {
    stop_code(code, paste(c(body$irods_response$status_message, failed_part(body)), collapse = "; "))
  }
  kind <- switch(as.character(status),
    "401" = "unauthenticated", "403" = "denied", "404" = "not-found", "409" = "exists", "422" = "mismatch",
    "invalid"
  )
  message <- c(body$detail, unauthenticated, paste("the server answered with status", status))[[1]]
  stop_cenote(kind, message, if (is.null(body$hint)) hints[[kind]] else body$hint)
}

failed_part <- function(body) body$irods_response$failed_operation$error_message

# Addresses of bytes in the native opening.
fs_url <- function(path) {
  inside <- substring(path, nchar(zone()) + 1)
  names <- strsplit(inside, "/", fixed = TRUE)[[1]]
  paste0(state$host, "/v1/fs", paste(curl::curl_escape(names), collapse = "/"))
}

# A route of the native opening that answers JSON.
native <- function(route, ...) {
  answer <- send(paste0(state$host, "/v1/", route, "?", encode(list(...))), handle())
  jsonlite::fromJSON(rawToChar(check_status(answer)$content))
}

inside <- function(path) {
  rest <- substring(path, nchar(zone()) + 1)
  if (nzchar(rest)) rest else "/"
}
