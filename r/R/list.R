#' List a collection
#'
#' @param logical_path The collection; or a data object, which is listed as a single row.
#' @param stat Whether to include `type`, `size`, `checksum`, `modified_at` (in seconds since 1970), permissions and the other
#'   properties that iRODS reports.
#' @param permissions Whether to include permissions. If there are several, names and levels are joined by commas.
#' @param metadata Whether to include attributes, in the columns `attribute`, `value` and `units`, with a row for each.
#' @param offset How many entries to skip.
#' @param limit The maximum number of entries.
#' @param recurse Whether to list collections recursively.
#' @param ticket A ticket to use.
#' @param message Whether to print a message if there are no attributes.
#' @param verbose Not used.
#' @return A data frame of class `irods_df`: a row for each entry, with its `logical_path`.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' imeta("cars.rds", operations = data.frame(operation = "add", attribute = "year", value = "1974"))
#' ils()
#' as.data.frame(ils(stat = TRUE))
#' ils(recurse = TRUE, metadata = TRUE)
#' irm("cars.rds")
#' @export
ils <- function(logical_path = ".", stat = FALSE, permissions = FALSE, metadata = FALSE, offset = 0,
                limit = Inf, recurse = FALSE, ticket = NULL, message = TRUE, verbose = FALSE) {
  path <- absolute(logical_path)
  check_count(offset, "offset")
  check_count(limit, "limit")
  check_flags(stat, permissions, metadata, recurse)
  found <- entries_of(path, recurse, ticket)
  if (identical(found, path)) path <- above(path)
  found <- utils::head(utils::tail(found, max(length(found) - offset, 0)), limit)
  entries <- data.frame(logical_path = found, stringsAsFactors = FALSE)
  if (stat || permissions) {
    stats <- stats_of(found, ticket)
    entries <- cbind(entries, if (stat) stats else stats[names(stats) %in% permission_columns])
  }
  if (metadata) entries <- with_attributes(entries, path, recurse, message)
  structure(entries, class = c("irods_df", "data.frame"))
}

# The paths below a collection; for a data object, its own path.
entries_of <- function(path, recurse, ticket) {
  tryCatch(
    as.character(irods("GET", "collections", op = "list", lpath = path, recurse = recurse, ticket = ticket)$entries),
    cenote_not_found = function(e) if (is.null(stat_of("data-objects", path))) stop(e) else path
  )
}

permission_columns <- paste0("permissions.", c("name", "perm", "type", "zone"))

# The result of iRODS' `stat` for each path, in its order of columns. One request returns the kinds; then there is one request per path,
# several at a time.
stats_of <- function(paths, ticket = NULL) {
  kinds <- kinds_of(paths, ticket)
  stats <- vector("list", length(paths))
  each_request(length(paths), function(i) {
    endpoint <- if (identical(kinds[[i]], "collection")) "collections" else "data-objects"
    h <- handle(url = with_query(api(endpoint), op = "stat", lpath = paths[[i]], ticket = ticket))
    list(handle = h, done = function(answer) {
      stats[[i]] <<- stat_row(checked(json_of(check_status(answer), simplifyVector = FALSE)))
    })
  })
  bind_rows(stats)
}

kinds_of <- function(paths, ticket) {
  groups <- split(paths, (seq_along(paths) - 1) %/% 10000) # the most in one question
  kinds <- lapply(groups, function(group) {
    items <- lapply(group, function(path) list(path = inside(path)))
    native("POST", "stat", body = list(items = items), ticket = ticket)$items$resource.kind
  })
  unlist(kinds, use.names = FALSE)
}

stat_row <- function(stat) {
  joined <- lapply(c("name", "perm", "type", "zone"), function(field) {
    toString(vapply(stat$permissions, `[[`, character(1), field))
  })
  names(joined) <- permission_columns
  row <- c(
    list(status_code = stat$irods_response$status_code, modified_at = stat$modified_at), joined,
    list(registered = stat$registered %or% TRUE)
  )
  if (stat$type == "collection") {
    c(list(inheritance_enabled = stat$inheritance_enabled), row, list(type = stat$type))
  } else {
    c(list(checksum = stat$checksum), row, list(size = as.numeric(stat$size), type = stat$type))
  }
}

# A data frame of rows that need not have the same fields.
bind_rows <- function(rows) {
  columns <- unique(unlist(lapply(rows, names)))
  values <- lapply(columns, function(column) {
    unlist(lapply(rows, function(row) if (is.null(row[[column]])) NA else row[[column]]))
  })
  data.frame(stats::setNames(values, columns), stringsAsFactors = FALSE, check.names = FALSE)
}

# Two queries return the attributes of all entries.
with_attributes <- function(entries, path, recurse, message) {
  below <- if (recurse) paste0(" || like ", quoted(paste0(path, "/%")))
  collections <- iquery(limit = Inf, query = paste0(
    "select COLL_NAME, META_COLL_ATTR_NAME, META_COLL_ATTR_VALUE, META_COLL_ATTR_UNITS where COLL_PARENT_NAME = ",
    quoted(path), below
  ))
  objects <- iquery(limit = Inf, query = paste0(
    "select COLL_NAME, DATA_NAME, META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE, META_DATA_ATTR_UNITS where COLL_NAME = ",
    quoted(path), below
  ))
  attributes <- data.frame(
    logical_path = c(collections[[1]], paste(objects[[1]], objects[[2]], sep = "/", recycle0 = TRUE)),
    attribute = c(collections[[2]], objects[[3]]), value = c(collections[[3]], objects[[4]]),
    units = c(collections[[4]], objects[[5]]), stringsAsFactors = FALSE
  )
  if (!nrow(attributes)) {
    if (message) message("No metadata")
    return(entries)
  }
  merge(entries, attributes, by = "logical_path", all.x = TRUE)
}

#' Print a listing
#'
#' @param x The result of [ils()].
#' @param ...,digits,quote,right,row.names,max As for [print.data.frame()].
#' @param message Whether to print a message if the listing is empty.
#' @return `x`, invisibly.
#' @export
print.irods_df <- function(x, ..., digits = NULL, quote = FALSE, right = TRUE, row.names = FALSE, max = NULL,
                           message = TRUE) {
  if (!length(x$logical_path)) {
    if (message) message("This collection does not contain any objects or collections.")
    return(invisible(x))
  }
  cat("\n==========\niRODS Zone\n==========\n")
  shown <- as.data.frame(x)
  repeated <- duplicated(shown$logical_path)
  shown[repeated, !names(shown) %in% c("attribute", "value", "units")] <- ""
  print(shown, ..., digits = digits, quote = quote, right = right, row.names = row.names, max = max)
  invisible(x)
}
