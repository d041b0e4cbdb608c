# Downloads of many files in parallel, each from where it stopped.

# Gets objects into files whose parts exist; returns the SHA-256 of those for which it is known. A part that does not match what the
# server has now is discarded, and the object is transferred again from its first byte.
get_streams <- function(paths, files, how, tick) {
  digests <- vector("list", length(paths))
  parts <- parts_of(files)
  stale <- integer()
  get_these <- function(which) {
    each_request(length(which), function(k) {
      i <- which[[k]]
      lock <- lock_part(parts[[i]])
      from <- if (how$resume && file.exists(parts[[i]])) file.size(parts[[i]]) else 0
      tick(from, already = TRUE)
      h <- get_handle(paths[[i]], from, how)
      sink <- part_sink(h, parts[[i]], tick)
      finish <- function(answer) {
        answer$content <- sink$end()
        if (brings_bytes(answer$status_code) && !file.exists(parts[[i]])) create_file(parts[[i]])
        if (continues(answer, from, parts[[i]])) {
          kept <- keep_file(answer, parts[[i]], files[[i]])
          if (!is.null(kept)) digests[[i]] <<- kept
        } else {
          remove_files(parts[[i]])
          stale <<- c(stale, i)
        }
      }
      list(handle = h, data = sink$write, done = finish, drop = function() {
        sink$end()
        let_go(lock, parts[[i]])
      })
    })
  }
  get_these(seq_along(paths))
  get_these(stale)
  digests
}

# Whether the part is complete now. If it was begun by an earlier call, only the digest can tell.
continues <- function(answer, from, part) {
  if (from == 0) return(!is.null(check_status(answer, expected = 200)))
  if (answer$status_code == 416) return(FALSE)
  isTRUE(is_announced(announced(check_status(answer, expected = c(200, 206))), part))
}

brings_bytes <- function(status) status %in% c(200, 206)

# Appends a partial body to a part, or overwrites it with a whole one; the body of any other response is kept separately.
part_sink <- function(h, part, tick) {
  file <- NULL
  words <- raw()
  begin <- function() {
    status <- curl::handle_data(h)$status_code # 0 where no server answered: what came earlier stays
    if (brings_bytes(status)) file(part, if (status == 206) "ab" else "wb") else FALSE
  }
  write <- function(data, final = FALSE) {
    if (is.null(file)) file <<- begin()
    if (isFALSE(file)) {
      words <<- c(words, data)
    } else {
      writeBin(data, file)
      tick(length(data))
    }
  }
  end <- function() {
    if (inherits(file, "connection")) close(file)
    file <<- NULL
    words
  }
  list(write = write, end = end)
}
