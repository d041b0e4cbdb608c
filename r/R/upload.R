# Large files go in parts. What a call has begun is written down, so that the next one, in any session, continues it.
#
# Invariant: a part counts as arrived if the server's SHA-256 of it is that of the same bytes of the file as it is now.

# A part is what an interruption can cost, and what a connection carries without a pause: a sixteenth of the file, from 8
# to 64 MiB.
part_bytes <- function(size) ceiling(min(max(size / 16, 8 * 2^20), 64 * 2^20))

put_in_parts <- function(file, path, how, tick) {
  upload <- if (how$resume) begun_upload(file, path)
  if (is.null(upload)) upload <- begin_upload(file, path, how)
  size <- file.size(file)
  offsets <- seq(0, size - 1, by = part_bytes(size))
  lengths <- pmin(part_bytes(size), size - offsets)
  here <- arrived(upload, file, offsets, lengths)
  tick(sum(lengths[here]))
  put_parts(upload, file, offsets[!here], lengths[!here], how, tick)
  native("POST", paste0("uploads/", upload$id, "/complete"), ticket = how$ticket, body = no_fields)
  forget_upload(upload)
}

no_fields <- structure(list(), names = character())

# The digest of a part is computed while it is sent.
put_parts <- function(upload, file, offsets, lengths, how, tick) {
  each_request(length(offsets), width = 3L, function(i) {
    digest <- begin_digest(file, offsets[[i]], lengths[[i]])
    h <- handle(headers = ticket_header(how$ticket))
    curl::handle_setopt(h, url = paste0(host(), "/v1/uploads/", upload$id, "/", text_of(offsets[[i]])))
    check <- function(answer) {
      stored <- json_of(check_status(answer))$sha256
      if (!identical(stored, hexadecimal(end_digest(digest, lengths[[i]])))) {
        stop_cenote("mismatch", paste0("the bytes stored are not those of the file: ", file))
      }
    }
    list(handle = send_body(h, file, offsets[[i]], lengths[[i]], tick), done = check)
  })
}

begin_upload <- function(file, path, how) {
  question <- list(path = inside(path), size = file.size(file), parents = isTRUE(how$parents))
  if (!how$overwrite) question$if_none_match <- "*"
  answer <- native("POST", "uploads", ticket = how$ticket, body = question)
  note_upload(file, path, answer$id)
}

# Which of the parts the server has.
arrived <- function(upload, file, offsets, lengths) {
  parts <- upload$parts
  vapply(seq_along(offsets), function(i) {
    part <- parts[parts$offset == offsets[[i]] & parts$length == lengths[[i]], , drop = FALSE]
    isTRUE(NROW(part) == 1) && identical(part$sha256, hexadecimal(sha256(file, offsets[[i]], lengths[[i]])))
  }, logical(1))
}

# The notes: a file for each upload that has begun.

notes <- function() file.path(tools::R_user_dir("cenote", "cache"), "uploads")

# What tells that it is the same upload: the server, who sends what file where, and the file as it was.
identity_of <- function(file, path) {
  list(
    host = host(), user = state$user, path = path, file = normalizePath(file), size = file.size(file),
    mtime = as.numeric(file.mtime(file))
  )
}

note_upload <- function(file, path, id) {
  dir.create(notes(), showWarnings = FALSE, recursive = TRUE)
  note <- tempfile("upload-", notes(), ".rds")
  saveRDS(list(identity = identity_of(file, path), id = id), note)
  list(id = id, note = note, parts = NULL)
}

forget_upload <- function(upload) unlink(upload$note)

# The upload of this file that an earlier call has begun, if the server still has it.
begun_upload <- function(file, path) {
  for (note in list.files(notes(), full.names = TRUE)) {
    noted <- tryCatch(readRDS(note), error = function(e) NULL)
    if (!identical(noted$identity, identity_of(file, path))) next
    upload <- tryCatch(native("GET", paste0("uploads/", noted$id)), cenote_not_found = function(e) NULL)
    if (!is.null(upload)) return(list(id = noted$id, note = note, parts = upload$parts))
    unlink(note)
  }
}
