# Large files are sent in requests whose received part the server keeps, however they end. A call records the upload it began,
# so that the next one, in any session, continues it.
#
# Invariant: bytes that have arrived are used only if the server's CRC-64/NVME of them is that of the same range of the file as it is now.

# The number of bytes that a crash of the server can lose.
part_bytes <- 2^30

# Returns the digest of the whole file.
put_in_parts <- function(file, path, how, tick) {
  upload <- if (how$resume) begun_upload(file, path)
  if (is.null(upload)) upload <- begin_upload(file, path, how)
  tick(upload$end, already = TRUE)
  size <- file.size(file)
  for (offset in seq_by(upload$end, size, part_bytes)) {
    put_part(upload, file, offset, min(part_bytes, size - offset), how, tick)
  }
  whole <- native("POST", paste0("uploads/", upload$id, "/complete"), ticket = how$ticket, body = no_fields)
  forget_upload(upload)
  binary(whole$sha256)
}

no_fields <- structure(list(), names = character())

seq_by <- function(from, end, by) if (from < end) seq(from, end - 1, by = by)

# The digest of a part is computed while the part is sent.
put_part <- function(upload, file, offset, length, how, tick) {
  each_request(1, function(i) {
    digest <- begin_digest(file, offset, length, "crc64nvme")
    h <- handle(headers = ticket_header(how$ticket))
    curl::handle_setopt(h, url = paste0(host(), "/v1/uploads/", upload$id, "/", text_of(offset), "?keep=true"))
    check <- function(answer) {
      stored <- json_of(check_status(answer))$crc64nvme
      if (!identical(stored, hexadecimal(end_digest(digest, length)))) {
        stop_cenote("mismatch", paste0("the stored bytes differ from those of the file: ", file))
      }
    }
    list(handle = send_body(h, file, offset, length, tick), done = check, drop = function() end_digest(digest))
  })
}

begin_upload <- function(file, path, how) {
  question <- list(path = inside(path), size = file.size(file), parents = isTRUE(how$parents))
  if (!how$overwrite) question$if_none_match <- "*"
  answer <- native("POST", "uploads", ticket = how$ticket, body = question)
  note_upload(file, path, answer$id)
}

# How much of the file as it is now the server has; NULL if it has other bytes.
arrived <- function(parts, file) {
  end <- 0
  for (i in seq_len(NROW(parts))) {
    length <- parts$length[[i]]
    if (parts$offset[[i]] != end || !identical(parts$crc64nvme[[i]], hexadecimal(crc64nvme(file, end, length)))) return(NULL)
    end <- end + length
  }
  end
}

# The records of uploads: a file for each one that has begun.

notes <- function() file.path(tools::R_user_dir("cenote", "cache"), "uploads")

# Identifies an upload: the server, the user, the file, the target, and the state of the file.
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
  list(id = id, note = note, end = 0)
}

forget_upload <- function(upload) remove_files(upload$note)

# The upload of this file that an earlier call has begun, if the server still has it, and it contains nothing else.
begun_upload <- function(file, path) {
  for (note in list.files(notes(), full.names = TRUE)) {
    noted <- tryCatch(readRDS(note), error = function(e) NULL)
    if (!identical(noted$identity, identity_of(file, path))) next
    upload <- tryCatch(native("GET", paste0("uploads/", noted$id)), cenote_not_found = function(e) NULL)
    end <- if (!is.null(upload)) arrived(upload$parts, file)
    if (!is.null(end)) return(list(id = noted$id, note = note, end = end))
    remove_files(note) # the server sweeps what it has of it
  }
}
