#' The current collection
#'
#' @return `ipwd()` gives its logical path, or `NULL` before [iauth()]; `icd()` the previous one, invisibly.
#' @param dir A logical path, absolute or relative to the current collection; it may contain `.` and `..`.
#' @examplesIf is_connected_irods()
#' imkdir("runs")
#' icd("runs")
#' ipwd()
#' icd("..")
#' irm("runs")
#' @export
ipwd <- function() state$wd

#' @rdname ipwd
#' @export
icd <- function(dir) {
  path <- absolute(dir)
  before <- ipwd()
  if (!is_collection(path)) stop_cenote("not-found", paste0("not a collection: ", path))
  state$wd <- path
  invisible(before)
}

# The absolute logical path, without `.` and `..` and without a trailing `/`.
absolute <- function(path) {
  need_login()
  if (!is_text(path)) stop_cenote("invalid", "a logical path must be one string")
  path <- utf8(path)
  if (!startsWith(path, "/")) path <- paste0(ipwd(), "/", path)
  names <- character()
  for (name in strsplit(path, "/", fixed = TRUE)[[1]]) {
    if (name == "..") names <- utils::head(names, -1) else if (!name %in% c("", ".")) names <- c(names, name)
  }
  path <- paste0("/", paste(names, collapse = "/"))
  inside(path)
  path
}

# The path in the store, whose root is the zone.
inside <- function(path) {
  if (identical(path, zone())) return("/")
  if (!startsWith(path, paste0(zone(), "/"))) {
    stop_cenote("not-found", paste0("not in the zone ", zone(), ": ", path),
      paste0("a logical path begins with ", zone(), ", or goes on from the current collection")
    )
  }
  substring(path, nchar(zone()) + 1)
}

outside <- function(paths) paste0(zone(), sub("^/$", "", paths), recycle0 = TRUE)

stat_of <- function(endpoint, path) {
  tryCatch(irods("GET", endpoint, op = "stat", lpath = path), cenote_not_found = function(e) NULL)
}

is_collection <- function(path) !is.null(stat_of("collections", path))

# "collections" or "data-objects": the part of the iRODS HTTP API that has the operations for a path.
endpoint_of <- function(path) if (is_collection(path)) "collections" else "data-objects"
