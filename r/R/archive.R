# Directories of small files, many per request, as tar streams, which are packed and unpacked in C.

# Files up to this size, in bytes, share a request; the maximum number of files and of bytes per request.
small_limit <- 256 * 2^10
batch_files <- 512
batch_bytes <- 4 * 2^20

# Groups of positions in `sizes`, each for one request.
batches <- function(sizes) {
  groups <- list()
  group <- integer()
  bytes <- 0
  for (i in seq_along(sizes)) {
    if (length(group) == batch_files || (length(group) && bytes + sizes[[i]] > batch_bytes)) {
      groups <- c(groups, list(group))
      group <- integer()
      bytes <- 0
    }
    group <- c(group, i)
    bytes <- bytes + sizes[[i]]
  }
  if (length(group)) c(groups, list(group)) else groups
}

# An archive of files, and of directories where the file is missing (NA), and the SHA-256 of each, which is NULL for a directory. Files that
# have become shorter are left out and marked in `cut`.
pack <- function(files, names, sizes) {
  there <- !is.na(files)
  paths <- ifelse(there, native_path(ifelse(there, files, "")), NA_character_)
  packed <- .Call(tar_pack, paths, enc2utf8(names), as.numeric(sizes))
  list(archive = packed[[1]], digests = packed[[2]], cut = there & lengths(packed[[2]]) == 0)
}

# A table of what goes into archives: directories, and the files at some positions (`at`).
entries_for <- function(folders, files, names, sizes, at) {
  none <- rep(NA, length(folders))
  data.frame(
    file = c(none, files[at]), name = c(folders, names[at]), size = c(numeric(length(folders)), sizes[at]), at = c(none, at),
    stringsAsFactors = FALSE
  )
}

# A function for each batch of entries, which starts its request. `note` is called with the positions of files and their digests.
batch_works <- function(entries, under, how, tick, note) {
  lapply(batches(entries$size), function(group) function() put_batch(entries[group, ], under, how, tick, note))
}

put_batch <- function(entries, under, how, tick, note) {
  is_file <- !is.na(entries$file)
  packed <- pack(entries$file, entries$name, entries$size)
  note(entries$at[is_file], packed$digests[is_file])
  done <- function(answer) {
    cut <- lapply(entries$file[packed$cut], function(file) fault_of(stop_shorter(file)))
    stop_several(c(refused_entries(answer, sum(!packed$cut)), cut))
    tick(sum(entries$size))
  }
  list(handle = batch_handle(packed$archive, under, how), count = max(sum(is_file), 1), done = done)
}

batch_handle <- function(archive, under, how) {
  h <- handle(headers = c("Content-Type" = "application/x-tar", ticket_header(how$ticket), unless_there(how)))
  curl::handle_setopt(h, url = with_query(paste0(host(), "/v1/batch"), path = inside(under)), post = TRUE, postfields = archive)
  moving(h)
}

# The server's response to a batch of entries: a condition for each entry that it refused.
refused_entries <- function(answer, n) {
  text <- rawToChar(check_status(answer)$content)
  Encoding(text) <- "UTF-8"
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  if (length(lines) != n) stop_cenote("invalid", "this is not a response of a cenote server: it does not have a result for each file", hints[["unreachable"]])
  refused <- lines[grepl(",\"problem\":{", lines, fixed = TRUE)] # in a name, quotes have backslashes
  lapply(refused, function(line) {
    problem <- jsonlite::parse_json(line, simplifyVector = TRUE)$problem
    fault_of(stop_problem(problem$status, problem))
  })
}

# Writes the objects of an archive to their files. Returns which of them were in it as listed (in a table with `id`, `etag`,
# `size`, `crc64nvme` and `sha256`). Files of other objects are not changed.
unpack <- function(archive, told, files) {
  index <- .Call(tar_index, archive)
  at <- match(told$id, index$id)
  is_told <- !is.na(at) & index$etag[at] == told$etag & index$size[at] == told$size
  is_told[is_told] <- has_digests(archive, index$offset[at[is_told]], index$size[at[is_told]], told[is_told, ])
  at <- at[is_told]
  written <- .Call(write_pieces, archive, index$offset[at], index$size[at], native_path(files[is_told]))
  if (!all(written)) stop_unwritable(files[is_told][!written][[1]])
  is_told
}

# Whether pieces of an archive have the digests that were announced for them; one digest is enough, and a piece without any passes.
has_digests <- function(archive, offsets, sizes, told) {
  digests <- function(which, algorithm) {
    digests <- .Call(piece_digests, archive, offsets[which], sizes[which], algorithm)
    vapply(digests, hexadecimal, character(1))
  }
  right <- rep(TRUE, length(offsets))
  by_crc <- !is.na(told$crc64nvme)
  by_sha <- !by_crc & !is.na(told$sha256)
  right[by_crc] <- digests(by_crc, "crc64nvme") == told$crc64nvme[by_crc]
  right[by_sha] <- digests(by_sha, "sha-256") == told$sha256[by_sha]
  right
}

# The condition that an expression signals.
fault_of <- function(code) tryCatch(code, cenote_error = identity)

stop_shorter <- function(file) {
  stop_cenote("invalid", paste0("the file became shorter during the call: ", file), "call again")
}

stop_unwritable <- function(file) {
  stop_cenote("invalid", paste0("the file cannot be created: ", file), "check the local path and its permissions")
}
