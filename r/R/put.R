#' Put a file or a directory
#'
#' A file goes in one request, whatever its size, and appears whole or not at all: with its SHA-256, which the server
#' compares before it shows the object. Of a file of more than 16 MiB the server keeps what has come, so that a call that was
#' interrupted, even in another session, is continued by the next one. Directories go with all that is in them, several
#' files at a time. Bytes never pass through R's memory.
#'
#' @param local_path A file, a directory, or a named pipe, which is read to its end first.
#' @param logical_path Where it goes.
#' @param offset Where in the object the file is to be written, in bytes.
#' @param count Accepted, and without effect: what pieces the bytes travel in is not the caller's care.
#' @param truncate Whether what the object held before goes; with `FALSE`, the file is laid over it.
#' @param verbose Whether to show a progress bar.
#' @param overwrite Whether to replace what is there.
#' @param ticket A ticket to use.
#' @param resume Whether to continue an interrupted call.
#' @return Invisibly, a data frame with a row for each file: `logical_path`, `local_path`, `size`, `checksum` (the
#'   SHA-256, in the form of iRODS; missing with `offset`, and without `truncate`), and `body`, the local path again, as rirods
#'   names it.
#' @examplesIf is_connected_irods()
#' iput("results.csv", "results.csv")
#' iput("run7", "runs/run7", verbose = TRUE) # a directory
#' @export
iput <- function(local_path, logical_path = basename(local_path), offset = 0, count = 0, truncate = TRUE,
                 verbose = FALSE, overwrite = FALSE, ticket = NULL, resume = TRUE) {
  if (!is.character(local_path) || length(local_path) != 1) {
    stop_cenote("invalid", "`local_path` is one path", "put several files as a directory, or one after the other")
  }
  local_path <- local_name(local_path)
  check_readable(local_path)
  path <- absolute(logical_path)
  check_count(offset, "offset")
  check_flags(truncate, verbose, overwrite, resume)
  how <- list(overwrite = overwrite, ticket = ticket, resume = resume)
  if (dir.exists(local_path)) {
    if (offset != 0) stop_cenote("invalid", "an `offset` is within a file, and this is a directory")
    return(invisible(put_tree(local_path, path, how, verbose)))
  }
  file <- of_known_size(local_path)
  if (file != local_path) on.exit(remove_files(file))
  over <- offset != 0 || !truncate
  put <- if (over) put_over(file, path, offset, truncate, how, verbose) else put_files(file, path, how, verbose)
  put[c("local_path", "body")] <- local_path
  invisible(put)
}

# What cannot be read, such as a link to nothing, is told before anything is sent.
check_readable <- function(files) {
  for (file in files[file.access(files, 4) != 0]) {
    if (!file.exists(file)) stop_cenote("not-found", paste0("no such file: ", file), "check the local path")
    stop_cenote("invalid", paste0("the file cannot be read: ", file), "check who may read it")
  }
}

# A pipe, and what the kernel makes up, has no size: it is read to its end into a file that has one.
of_known_size <- function(file) {
  if (file.size(file) > 0) return(file)
  copy <- tempfile()
  file.copy(file, copy)
  copy
}

put_tree <- function(dir, path, how, verbose) {
  files <- list.files(dir, recursive = TRUE, all.files = TRUE, no.. = TRUE)
  folders <- list.dirs(dir, full.names = FALSE)
  names <- utf8(files)
  check_readable(file.path(dir, files))
  bare <- c("", setdiff(folders, dirname(c(files, folders[nzchar(folders)]))))
  for (folder in utf8(unique(bare))) {
    native("POST", "create", ticket = how$ticket, body = list(
      path = inside(absolute(paste0(path, "/", folder))), kind = "collection", parents = TRUE, exist_ok = TRUE
    ))
  }
  put_files(file.path(dir, files), paste0(path, "/", names, recycle0 = TRUE), c(how, parents = TRUE), verbose)
}

# Of files beyond this size, in bytes, the server keeps what has come.
whole_limit <- 16 * 2^20

put_files <- function(files, paths, how, verbose) {
  sizes <- file.size(files)
  tick <- progress(sum(sizes), verbose)
  digests <- vector("list", length(files))
  whole <- which(sizes <= whole_limit)
  each_request(length(whole), function(k) {
    i <- whole[[k]]
    digest <- digest_of(files[[i]], sizes[[i]])
    digests[[i]] <<- digest
    list(handle = put_handle(files[[i]], sizes[[i]], paths[[i]], digest, how, tick), done = check_status)
  })
  for (i in setdiff(seq_along(files), whole)) digests[i] <- list(put_in_parts(files[[i]], paths[[i]], how, tick))
  transfers(paths, files, digests)
}

# The SHA-256 of a file that goes with its first `size` bytes.
digest_of <- function(file, size) {
  digest <- sha256(file, 0, size)
  if (is.null(digest)) stop_cenote("invalid", paste0("the file has become shorter since the call: ", file), "call again")
  digest
}

put_handle <- function(file, size, path, digest, how, tick) {
  h <- handle(headers = c(
    "Content-Type" = "application/octet-stream", digest_header(digest), ticket_header(how$ticket),
    if (!how$overwrite) c("If-None-Match" = "*")
  ))
  curl::handle_setopt(h, url = with_query(fs_url(path), parents = if (isTRUE(how$parents)) "true"))
  send_body(h, file, 0, size, tick)
}

digest_header <- function(digest) c("Repr-Digest" = paste0("sha-256=:", jsonlite::base64_enc(digest), ":"))

# The body of a request is part of a file.
send_body <- function(h, file, offset, length, tick) {
  moving(h)
  curl::handle_setopt(h,
    upload = TRUE, infilesize_large = length, readfunction = body_reader(file, offset, length, tick),
    upload_buffersize = 512L * 1024L
  )
}

# The file is written over part of an object, as iRODS does it.
put_over <- function(file, path, offset, truncate, how, verbose) {
  if (!how$overwrite && !is.null(stat_of("data-objects", path))) {
    stop_cenote("exists", paste0("it is there already: ", path))
  }
  arguments <- list(op = "write", lpath = path, offset = offset, truncate = truncate, ticket = how$ticket)
  arguments <- vapply(Filter(Negate(is.null), arguments), text_of, character(1))
  names(arguments) <- paste0("irods-api-request-", names(arguments))
  each_request(1, function(i) {
    h <- handle(headers = c(arguments, "Content-Type" = "application/octet-stream"))
    send_body(h, file, 0, file.size(file), progress(file.size(file), verbose))
    curl::handle_setopt(h, customrequest = "POST", url = api("data-objects"))
    list(handle = h, done = function(answer) checked(json_of(check_status(answer))))
  })
  transfers(path, file, list(NULL))
}
