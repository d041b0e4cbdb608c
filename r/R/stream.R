# Many files at a time, each from where it stopped.

# Gets objects into files whose parts are there; gives the SHA-256 of those of which it is known. A part that does not belong to what the
# server has now is dropped, and the object comes again from its first byte.
get_streams <- function(paths, files, how, tick) {
  digests <- vector("list", length(paths))
  parts <- paste0(files, ".part", recycle0 = TRUE)
  stale <- integer()
  get_these <- function(which) {
    each_request(length(which), function(k) {
      i <- which[[k]]
      from <- if (file.exists(parts[[i]])) file.size(parts[[i]]) else 0
      tick(from)
      h <- get_handle(paths[[i]], from, how)
      sink <- part_sink(h, parts[[i]], tick)
      finish <- function(answer) {
        answer$content <- sink$end()
        if (answer$status_code < 400 && !file.exists(parts[[i]])) file.create(parts[[i]])
        if (continues(answer, from, parts[[i]])) {
          kept <- keep_file(answer, parts[[i]], files[[i]])
          if (!is.null(kept)) digests[[i]] <<- kept
        } else {
          unlink(parts[[i]])
          stale <<- c(stale, i)
        }
      }
      list(handle = h, data = sink$write, done = finish, fail = sink$end)
    })
  }
  get_these(seq_along(paths))
  get_these(stale)
  digests
}

# Whether the part is whole now. Where it began earlier, only the digest can tell.
continues <- function(answer, from, part) {
  if (from == 0) return(!is.null(check_status(answer)))
  if (answer$status_code == 416) return(FALSE)
  isTRUE(is_announced(announced(check_status(answer)), part))
}

# Writes a body to the end of a part; the words of an error are kept apart.
part_sink <- function(h, part, tick) {
  file <- NULL
  words <- raw()
  begin <- function() {
    status <- curl::handle_data(h)$status_code # 0 where no server answered: what came earlier stays
    if (status >= 200 && status < 400) file(part, if (status == 206) "ab" else "wb") else FALSE
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

get_tree <- function(path, dir, how, verbose) {
  if (how$offset != 0) stop_cenote("invalid", paste0("an `offset` is within an object, and this is a collection: ", path))
  if (file.exists(dir) && !dir.exists(dir)) stop_cenote("exists", paste0("a file is there already: ", dir))
  found <- walk(path, how$ticket)
  local <- file.path(dir, local_name(substring(outside(found$path), nchar(path) + 2)), fsep = "/")
  for (folder in c(dir, local[found$kind == "collection"])) {
    dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  }
  objects <- which(found$kind == "object")
  for (file in local[objects]) check_target(file, how)
  tick <- progress(sum(found$size[objects]), verbose)
  paths <- outside(found$path[objects])
  transfers(paths, local[objects], get_streams(paths, local[objects], how, tick))
}

# All that lies below a collection.
walk <- function(path, ticket) {
  h <- handle(headers = ticket_header(ticket))
  url <- with_query(paste0(host(), "/v1/walk"), path = inside(path))
  lines <- rawToChar(check_status(send(url, h))$content)
  Encoding(lines) <- "UTF-8"
  lines <- strsplit(lines, "\n", fixed = TRUE)[[1]]
  if (!length(lines)) return(data.frame(path = character(), kind = character(), size = numeric()))
  jsonlite::fromJSON(paste0("[", paste(lines, collapse = ","), "]"))
}
