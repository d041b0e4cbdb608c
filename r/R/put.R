#' Put a file or a directory
#'
#' A file goes in one request, whatever its size, and appears whole or not at all: with its SHA-256, which the server
#' compares before it shows the object. Of a file of more than 16 MiB the server keeps what has come, so that a call that was
#' interrupted, even in another session, is continued by the next one. Bytes of larger files never pass through R's memory.
#'
#' Directories go with all that is in them, several requests at a time, and many small files in each. With
#' `overwrite = "changed"`, files that the store has already, with the same bytes, are skipped: so a call that was interrupted goes
#' on, and a directory that has changed is put again at the cost of what has changed. Objects whose files have gone stay. Links are
#' followed; what cannot be put (a link to nothing, a pipe, a link to a directory that it is in) is left out, with a
#' warning of class `cenote_skipped`, whose `skipped` are the paths.
#'
#' @param local_path A file, a directory, or a named pipe, which is read to its end first.
#' @param logical_path Where it goes.
#' @param offset Where in the object the file is to be written, in bytes.
#' @param count Accepted, and without effect: what pieces the bytes travel in is not the caller's care.
#' @param truncate Whether what the object held before goes; with `FALSE`, the file is laid over it.
#' @param verbose Whether to show a progress bar, with the rate.
#' @param overwrite Whether to replace what is there: `TRUE`, `FALSE`, or `"changed"`, which replaces only what differs.
#' @param ticket A ticket to use.
#' @param resume Whether to continue an interrupted call.
#' @return Invisibly, a data frame with a row for each file: `logical_path`, `local_path`, `size`, `checksum` (the
#'   SHA-256, in the form of iRODS; missing with `offset`, and without `truncate`), `transferred` (`FALSE` where the same bytes were there
#'   already), and `body`, the local path again, as rirods names it.
#' @examplesIf is_connected_irods()
#' file <- tempfile(fileext = ".csv")
#' write.csv(mtcars, file)
#' iput(file, "cars.csv")
#' dir <- tempfile()
#' dir.create(dir)
#' for (i in 1:3) writeLines(as.character(i), file.path(dir, i))
#' iput(dir, "runs", verbose = TRUE)
#' writeLines("more", file.path(dir, 4))
#' iput(dir, "runs", overwrite = "changed")$transferred
#' irm("cars.csv")
#' irm("runs", recursive = TRUE)
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
  check_flags(truncate, verbose, resume)
  how <- c(overwriting(overwrite), list(ticket = ticket, resume = resume))
  if (dir.exists(local_path)) {
    if (offset != 0) stop_cenote("invalid", "an `offset` is within a file, and this is a directory")
    return(invisible(put_tree(local_path, path, how, verbose)))
  }
  file <- of_known_size(local_path)
  if (file != local_path) on.exit(remove_files(file))
  over <- offset != 0 || !truncate
  put <- if (over) put_over(file, path, offset, truncate, how, verbose) else put_file(file, path, how, verbose)
  put[c("local_path", "body")] <- local_path
  invisible(put)
}

# What cannot be read, such as a link to nothing, is reported before anything is sent.
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

put_file <- function(file, path, how, verbose) put_files(file, last_name(path), above(path), how, verbose)

put_tree <- function(dir, path, how, verbose) {
  found <- walk_local(dir)
  warn_left_out(file.path(dir, found$left_out), found$why)
  check_readable(file.path(dir, c(found$folders, found$files)))
  names <- utf8(found$files)
  folders <- utf8(found$folders)
  bare <- substring(setdiff(paste0("/", folders, recycle0 = TRUE), above(paste0("/", c(names, folders), recycle0 = TRUE))), 2)
  native("POST", "create", ticket = how$ticket, body = list(
    path = inside(path), kind = "collection", parents = TRUE, exist_ok = TRUE
  ))
  put_files(file.path(dir, found$files), names, path, c(how, parents = TRUE), verbose, bare)
}

# Of files beyond this size, in bytes, the server keeps what has come.
whole_limit <- 16 * 2^20

# Puts files below a collection, and makes collections there. Small files go together, the others one by one, the largest in parts.
put_files <- function(files, names, under, how, verbose, folders = character()) {
  paths <- paste0(under, "/", names, recycle0 = TRUE)
  sizes <- file.size(files)
  digests <- if (how$changed) digests_of_same(files, sizes, paths, under, how$ticket) else vector("list", length(files))
  note <- function(which, found) digests[which] <<- found
  transferred <- lengths(digests) == 0
  tick <- progress(sum(sizes), verbose)
  tick(sum(sizes[!transferred]), already = TRUE)
  small <- which(transferred & sizes <= small_limit & length(files) + length(folders) > 1)
  large <- which(transferred & sizes > whole_limit)
  works <- c(
    batch_works(entries_for(folders, files, names, sizes, small), under, how, tick, note),
    lapply(setdiff(which(transferred), c(small, large)), function(i) {
      function() put_whole(files[[i]], sizes[[i]], paths[[i]], how, tick, function(digest) note(i, list(digest)))
    })
  )
  each_request(length(works), function(k) works[[k]]())
  for (i in large) note(i, list(put_in_parts(files[[i]], paths[[i]], how, tick)))
  transfers(paths, files, digests, transferred)
}

put_whole <- function(file, size, path, how, tick, note) {
  digest <- digest_of(file, size)
  note(digest)
  list(handle = put_handle(file, size, path, digest, how, tick), done = check_status)
}

unless_there <- function(how) if (!how$overwrite) c("If-None-Match" = "*")

# The SHA-256 of those files of which the store has the bytes already; NULL for the others.
digests_of_same <- function(files, sizes, paths, under, ticket) {
  stored <- if (length(files) > 1) stored_below(under, ticket) else stored_at(paths, ticket)
  at <- match(paths, stored$path)
  digests <- vector("list", length(files))
  for (i in which(!is.na(at) & stored$kind[at] %in% "object" & stored$size[at] == sizes & !is.na(stored$sha256[at]))) {
    digest <- digest_of(files[[i]], sizes[[i]])
    if (identical(hexadecimal(digest), stored$sha256[[at[[i]]]])) digests[[i]] <- digest
  }
  digests
}

# The SHA-256 of a file that goes with its first `size` bytes.
digest_of <- function(file, size) {
  digest <- sha256(file, 0, size)
  if (is.null(digest)) stop_shorter(file)
  digest
}

put_handle <- function(file, size, path, digest, how, tick) {
  h <- handle(headers = c(
    "Content-Type" = "application/octet-stream", digest_header(digest), ticket_header(how$ticket), unless_there(how)
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
  transfers(path, file, list(NULL), TRUE)
}
