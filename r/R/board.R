#' Use a collection as a board of pins
#'
#' A board for the package [pins](https://pins.rstudio.com): `pin_write()`, `pin_read()`, `pin_versions()` and the rest
#' work on a collection of the store. Each version of a pin is a collection below it, so other users can find, describe and get it
#' like any other collection. Log in with [iauth()] first.
#'
#' @param path The collection; it is created if it does not exist.
#' @param versioned Whether to keep the previous version when a pin is written again.
#' @param cache A local directory for files that have been read.
#' @return A board.
#' @export
#' @examples
#' \dontrun{
#' board <- board_cenote("pins")
#' pins::pin_write(board, mtcars, "cars")
#' pins::pin_read(board, "cars")
#' }
board_cenote <- function(path = "pins", versioned = TRUE, cache = NULL) {
  if (!requireNamespace("pins", quietly = TRUE)) {
    stop_cenote("invalid", "a board needs the package pins", "install.packages(\"pins\")")
  }
  path <- absolute(path)
  if (is.null(cache)) {
    cache <- file.path(tools::R_user_dir("cenote", "cache"), "pins", curl::curl_escape(paste0(host(), path)))
  }
  imkdir(path, create_parent_collections = TRUE, overwrite = TRUE)
  board <- pins::board_folder(cache, versioned = versioned)
  board$board <- "pins_board_cenote"
  board$logical_path <- path
  class(board) <- c("pins_board_cenote", class(board))
  board
}

# Invariant: the cache is a folder board. Its methods read and write there, and know the formats of pins; the
# methods here update the cache from the store before they call them, and the store from the cache afterwards.

# Names of the collections below a collection of the board.
below <- function(board, ...) {
  path <- paste(c(board$logical_path, ...), collapse = "/")
  entries <- native_list(inside(path))
  entries$name[entries$kind == "collection"]
}

native_list <- function(path) {
  pages <- list()
  after <- NULL
  repeat {
    page <- native("GET", "list", path = path, after = after)
    pages <- c(pages, list(page$entries[c("name", "kind")]))
    after <- page$`next`
    if (is.null(after)) break
  }
  do.call(rbind, Filter(NROW, pages))
}

#' Methods for boards
#'
#' The methods that the package pins calls on a board.
#'
#' @param board A board.
#' @param name,names Names of pins.
#' @param version A version of a pin.
#' @param ... Passed on.
#' @return The value that pins expects.
#' @name board_methods
#' @keywords internal
NULL

#' @rdname board_methods
#' @exportS3Method pins::pin_list
pin_list.pins_board_cenote <- function(board, ...) {
  names <- as.character(below(board))
  names[!startsWith(names, ".")] # one that begins with a dot is on its way in
}

#' @rdname board_methods
#' @exportS3Method pins::pin_exists
pin_exists.pins_board_cenote <- function(board, name, ...) {
  is_collection(paste0(board$logical_path, "/", name))
}

#' @rdname board_methods
#' @exportS3Method pins::pin_delete
pin_delete.pins_board_cenote <- function(board, names, ...) {
  for (name in names) if (pin_exists.pins_board_cenote(board, name)) mirror_versions(board, name)
  NextMethod()
  for (name in names) irm(paste0(board$logical_path, "/", name), recursive = TRUE)
  invisible(board)
}

#' @rdname board_methods
#' @exportS3Method pins::pin_versions
pin_versions.pins_board_cenote <- function(board, name, ...) {
  if (pin_exists.pins_board_cenote(board, name)) mirror_versions(board, name)
  NextMethod()
}

# The cache has exactly one directory for each version in the store.
mirror_versions <- function(board, name) {
  versions <- below(board, name)
  local <- file.path(board$path, name)
  check_below(c(name, versions))
  remove_files(file.path(local, setdiff(list.files(local), versions)), recursive = TRUE)
  for (version in versions) dir.create(file.path(local, version), recursive = TRUE, showWarnings = FALSE)
}

#' @rdname board_methods
#' @exportS3Method pins::pin_version_delete
pin_version_delete.pins_board_cenote <- function(board, name, version, ...) {
  check_below(c(name, version))
  irm(paste(board$logical_path, name, version, sep = "/"), recursive = TRUE)
  remove_files(file.path(board$path, name, version), recursive = TRUE)
}

#' @rdname board_methods
#' @exportS3Method pins::pin_meta
pin_meta.pins_board_cenote <- function(board, name, version = NULL, ...) {
  if (pin_exists.pins_board_cenote(board, name)) {
    mirror_versions(board, name)
    wanted <- if (is.null(version)) list.files(file.path(board$path, name)) else version
    for (one in wanted) cached(board, name, one, "data.txt")
  }
  NextMethod()
}

#' @rdname board_methods
#' @exportS3Method pins::pin_fetch
pin_fetch.pins_board_cenote <- function(board, name, version = NULL, ...) {
  meta <- pins::pin_meta(board, name, version = version)
  for (file in meta$file) cached(board, name, meta$local$version, file)
  meta
}

# The files of a version never change, so each is downloaded only once.
cached <- function(board, name, version, file) {
  check_below(c(name, version, file))
  local <- file.path(board$path, name, version, file)
  if (dir.exists(dirname(local)) && !file.exists(local)) {
    iget(paste(board$logical_path, name, version, file, sep = "/"), local)
    Sys.chmod(local, "0444")
  }
}

#' @rdname board_methods
#' @param paths,metadata,versioned,x The files to store, their metadata, and options.
#' @exportS3Method pins::pin_store
pin_store.pins_board_cenote <- function(board, name, paths, metadata, versioned = NULL, x = NULL, ...) {
  local <- file.path(board$path, name)
  stored <- NextMethod()
  there <- if (is_collection(paste0(board$logical_path, "/", name))) below(board, name)
  for (version in setdiff(list.files(local), there)) put_version(board, name, version)
  stored
}

# A version becomes visible only when all its files are stored.
put_version <- function(board, name, version) {
  arriving <- paste0(board$logical_path, "/.", name, "-", version)
  iput(file.path(board$path, name, version), arriving, overwrite = TRUE)
  native("POST", "move", body = list(
    from = list(path = inside(arriving)), parents = TRUE,
    to = inside(paste(board$logical_path, name, version, sep = "/"))
  ))
}

#' @rdname board_methods
#' @exportS3Method pins::board_deparse
board_deparse.pins_board_cenote <- function(board, ...) {
  bquote(board_cenote(.(board$logical_path), versioned = .(board$versioned)))
}

#' @rdname board_methods
#' @exportS3Method pins::required_pkgs
required_pkgs.pins_board_cenote <- function(x, ...) "cenote"

#' @rdname board_methods
#' @param manifest The manifest of the board.
#' @exportS3Method pins::write_board_manifest_yaml
write_board_manifest_yaml.pins_board_cenote <- function(board, manifest, ...) {
  NextMethod()
  iput(file.path(board$path, "_pins.yaml"), paste0(board$logical_path, "/_pins.yaml"), overwrite = TRUE)
}

#' @rdname board_methods
#' @exportS3Method pins::board_desc
board_desc.pins_board_cenote <- function(board, ...) paste0("Collection: '", board$logical_path, "'")
