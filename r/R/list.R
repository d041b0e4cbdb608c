#' List a collection
#'
#' @param logical_path The collection.
#' @param stat Whether to tell kind, size, checksum, time and owner.
#' @param permissions Not used; kept so that scripts for rirods run.
#' @param metadata Whether to add the attributes: a list column of data frames.
#' @param offset How many entries to leave out.
#' @param limit At most this many entries.
#' @param recurse Whether to go into collections.
#' @param ticket A ticket to use.
#' @param message,verbose Not used.
#' @return A data frame with a row for each entry.
#' @export
ils <- function(logical_path = ".", stat = FALSE, permissions = FALSE, metadata = FALSE, offset = 0,
                limit = Inf, recurse = FALSE, ticket = NULL, message = TRUE, verbose = FALSE) {
  path <- absolute(logical_path)
  asked <- list("GET", "collections", op = "list", lpath = path, recurse = recurse)
  if (!is.null(ticket)) asked$ticket <- ticket
  found <- as.character(do.call(irods, asked)$entries)
  found <- utils::head(utils::tail(found, max(length(found) - offset, 0)), limit)
  entries <- data.frame(logical_path = found, stringsAsFactors = FALSE)
  if (stat) entries <- cbind(entries, stats_of(found))
  if (metadata) entries$metadata <- lapply(found, attributes_at)
  structure(entries, class = c("irods_df", "data.frame"))
}

# One request for all of them.
stats_of <- function(paths) {
  if (!length(paths)) return(data.frame())
  items <- lapply(paths, function(path) list(path = inside(path)))
  body <- jsonlite::toJSON(list(items = items), auto_unbox = TRUE)
  h <- handle()
  curl::handle_setopt(h, post = TRUE, postfields = enc2utf8(body))
  curl::handle_setheaders(h, .list = c(headers(), list("Content-Type" = "application/json")))
  answer <- check_status(send(paste0(state$host, "/v1/stat"), h))
  resources <- jsonlite::fromJSON(rawToChar(answer$content), flatten = TRUE)$items
  field <- function(name, missing) {
    values <- resources[[paste0("resource.", name)]]
    if (is.null(values)) rep(missing, length(paths)) else values
  }
  data.frame(
    type = ifelse(field("kind", NA) == "object", "data_object", field("kind", NA)),
    size = as.numeric(field("size", NA)),
    checksum = as.character(field("sha256", NA)),
    owner = field("owner", NA),
    modified_at = as.POSIXct(substr(field("modified", NA), 1, 19), "UTC", "%Y-%m-%dT%H:%M:%S"),
    stringsAsFactors = FALSE
  )
}

attributes_at <- function(path) {
  items <- native("meta", path = inside(path))$items
  if (!length(items)) return(data.frame(attribute = character(), value = character(), units = character()))
  data.frame(attribute = items$attribute, value = items$value, units = items$unit, stringsAsFactors = FALSE)
}

#' @export
print.irods_df <- function(x, ...) {
  if (nrow(x)) NextMethod() else cat("This collection does not contain any objects or collections.\n")
  invisible(x)
}
