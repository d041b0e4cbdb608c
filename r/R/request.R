# Requests with small bodies. All of them are made here, and their responses turned into values or conditions.

# A handle with our headers, for one request.
handle <- function(..., headers = character()) {
  h <- curl::new_handle(connecttimeout = 10, followlocation = FALSE, ...)
  curl::handle_setheaders(h, .list = as.list(headers))
  if (is_connected_irods()) authorize(h)
  h
}

bearer <- 64L # CURLAUTH_BEARER: the token stays apart from the headers, so that it can be replaced

authorize <- function(h) curl::handle_setopt(h, httpauth = bearer, xoauth2_bearer = state$token)

# For transfers: a connection without progress for two minutes counts as broken.
moving <- function(h) curl::handle_setopt(h, low_speed_limit = 1, low_speed_time = 120)

# Performs a request. It is repeated up to twice if the server is overloaded, and once if the session's token, which the handle
# has, has expired.
send <- function(url, h, fetch = curl::curl_fetch_memory, token = state$token) {
  force(url)
  force(token)
  pauses <- c(0.2, 1)
  repeat {
    answer <- tryCatch(fetch(url, handle = h), error = stop_unreachable)
    if (answer$status_code == 401 && token_renewed(token)) {
      token <- NULL
      authorize(h)
    } else if (length(pauses) && is_overloaded(answer)) {
      Sys.sleep(pauses[[1]])
      pauses <- pauses[-1]
    } else {
      return(answer)
    }
  }
}

is_overloaded <- function(answer) answer$status_code %in% c(429, 503)

stop_unreachable <- function(e) {
  if (inherits(e, "cenote_error")) stop(e)
  if (startsWith(conditionMessage(e), "Failed to open file")) {
    stop_cenote("invalid", conditionMessage(e), "check the local path and its permissions")
  }
  if (grepl("aborted by an application callback", conditionMessage(e), fixed = TRUE)) {
    interrupt() # curl takes R's interrupt and gives this error
  }
  stop_cenote("unreachable", conditionMessage(e))
}

# Parameters as a query or a form; those that are NULL are left out. Numbers never have an exponent.
encode <- function(parameters) {
  parameters <- Filter(Negate(is.null), parameters)
  if (!length(parameters)) return("")
  values <- vapply(parameters, function(value) curl::curl_escape(enc2utf8(text_of(value))), character(1))
  paste0(names(parameters), "=", values, collapse = "&")
}

text_of <- function(value) {
  if (is.logical(value)) value <- as.integer(value)
  if (is.numeric(value)) format(value, scientific = FALSE, digits = 15) else as.character(value)
}

with_query <- function(url, ...) {
  query <- encode(list(...))
  if (nzchar(query)) paste0(url, "?", query) else url
}

api <- function(endpoint) paste0(host(), "/irods-http-api/0.7.0/", endpoint)

login <- function(user, password) {
  basic <- jsonlite::base64_enc(charToRaw(enc2utf8(paste0(user, ":", password))))
  h <- curl::new_handle(connecttimeout = 10, post = TRUE, postfields = "")
  curl::handle_setheaders(h, Authorization = paste("Basic", gsub("\n", "", basic)))
  answer <- send(api("authenticate"), h, token = NULL)
  if (answer$status_code == 401) {
    stop_cenote("unauthenticated", "the user or the password is wrong", "check both, and call `iauth()` again")
  }
  rawToChar(check_status(answer)$content)
}

# An operation of the iRODS HTTP API.
irods <- function(method, endpoint, ...) {
  need_login()
  if (method == "POST") {
    answer <- send(api(endpoint), handle(post = TRUE, postfields = encode(list(...))))
  } else {
    answer <- send(with_query(api(endpoint), ...), handle())
  }
  about <- list(...)$lpath
  checked(json_of(check_status(answer, about)), about)
}

checked <- function(body, about = NULL) {
  code <- body$irods_response$status_code
  if (!is.null(code) && code < 0) stop_code(code, body$irods_response$status_message, about)
  body
}

json_of <- function(answer, ...) parsed(answer, identity, ...)

# Parses JSON, after `prepare` was applied to the text. fromJSON() would open a file or URL if the text were the name of one.
parsed <- function(answer, prepare, simplifyVector = TRUE, ...) {
  force(answer) # its errors are not those of the text
  tryCatch({
    text <- rawToChar(answer$content)
    Encoding(text) <- "UTF-8"
    jsonlite::parse_json(prepare(text), simplifyVector, ...)
  }, error = function(e) {
    stop_cenote("invalid", paste0("this is not a response of a cenote server: ", conditionMessage(e)), hints[["unreachable"]])
  })
}

# A route of the native API that accepts and returns JSON.
native <- function(method, route, ..., body = NULL, ticket = NULL) {
  h <- handle(headers = c(if (!is.null(body)) c("Content-Type" = "application/json"), ticket_header(ticket)))
  curl::handle_setopt(h, customrequest = method)
  if (!is.null(body)) {
    curl::handle_setopt(h, postfields = enc2utf8(as.character(jsonlite::toJSON(body, auto_unbox = TRUE, digits = NA))))
  }
  json_of(check_status(send(with_query(paste0(host(), "/v1/", route), ...), h)), flatten = TRUE)
}

ticket_header <- function(ticket) if (!is.null(ticket)) c("Cenote-Ticket" = ticket)

# The address of an object's bytes in the native API.
fs_url <- function(path) {
  names <- strsplit(inside(path), "/", fixed = TRUE)[[1]]
  paste0(host(), "/v1/fs", paste(curl::curl_escape(enc2utf8(names)), collapse = "/"))
}
