# Gets a collection with its contents into a directory.

get_tree <- function(path, dir, how, verbose) {
  if (how$offset != 0) stop_cenote("invalid", paste0("an `offset` cannot be used with a collection: ", path))
  if (file.exists(dir) && !dir.exists(dir)) stop_cenote("exists", paste0("a file of this name already exists: ", dir))
  found <- stored_below(path, how$ticket)
  local <- file.path(dir, local_name(names_below(path, found$path)), fsep = "/")
  for (folder in c(dir, local[found$kind == "collection"])) {
    dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  }
  others <- !found$kind %in% c("collection", "object")
  warn_left_out(found$path[others], found$kind[others])
  get_objects(found[found$kind == "object", ], local[found$kind == "object"], how, verbose)
}

# Gets the objects of a table with `id`, `path`, `size`, `etag`, `crc64nvme` and `sha256` into files: small ones share requests, except
# those of which a part has already been transferred.
get_objects <- function(told, files, how, verbose) {
  check_target(files, how)
  same <- if (how$changed) are_same(told, files) else logical(length(files))
  tick <- progress(sum(told$size), verbose)
  tick(sum(told$size[same]), already = TRUE)
  small <- which(!same & told$size <= small_limit & !(how$resume & file.exists(parts_of(files))))
  if (length(small) < 2) small <- integer()
  digests <- lapply(told$sha256, function(digits) if (!is.na(digits)) binary(digits))
  fault <- NULL
  come <- tryCatch(get_archives(told, files, small, how, tick), cenote_error = function(e) {
    fault <<- e
    small
  })
  alone <- setdiff(which(!same), come)
  digests[alone] <- get_streams(told$path[alone], files[alone], how, tick)
  if (!is.null(fault)) stop(fault)
  transfers(told$path, files, digests, !same)
}

# Returns the positions of those that were received.
get_archives <- function(told, files, small, how, tick) {
  come <- integer()
  groups <- batches(told$size[small])
  each_request(length(groups), function(k) {
    which <- small[groups[[k]]]
    list(handle = archive_handle(told$id[which], how), count = length(which), done = function(answer) {
      there <- which[unpack(check_status(answer)$content, told[which, ], files[which])]
      tick(sum(told$size[there]))
      come <<- c(come, there)
    })
  })
  come
}

archive_handle <- function(ids, how) {
  h <- handle(url = paste0(host(), "/v1/archive"), headers = c("Content-Type" = "application/json", ticket_header(how$ticket)))
  body <- paste0("{\"ids\":[", paste(format(ids, scientific = FALSE, trim = TRUE), collapse = ","), "]}")
  curl::handle_setopt(h, post = TRUE, postfields = body)
  moving(h)
}

# Paths relative to a collection.
names_below <- function(collection, paths) {
  if (!all(startsWith(paths, paste0(collection, "/")))) {
    stop_cenote("invalid", paste0("the server's listing has a path that is not below ", collection))
  }
  names <- substring(paths, nchar(collection) + 2)
  check_below(names)
  names
}

stored_below <- function(path, ticket) {
  found <- walk(path, ticket)
  found$path <- outside(found$path)
  found
}

# The resource at a path, as a table like that of the resources below a collection.
stored_at <- function(path, ticket) {
  found <- tryCatch(native("GET", "stat", path = inside(path), ticket = ticket), cenote_not_found = function(e) NULL)
  told(utils::modifyList(as.list(found), list(path = path)))
}

# All resources below a collection.
walk <- function(path, ticket) {
  h <- handle(headers = ticket_header(ticket))
  url <- with_query(paste0(host(), "/v1/walk"), path = inside(path))
  entries <- parsed(check_status(send(url, h)), function(text) {
    paste0("[", paste(strsplit(text, "\n", fixed = TRUE)[[1]], collapse = ","), "]")
  })
  told(entries)
}

# The columns of a walk that are needed here, even if no line has them.
told <- function(entries) {
  column <- function(name, missing) if (is.null(entries[[name]])) rep(missing, NROW(entries$path)) else entries[[name]]
  data.frame(
    id = column("id", NA_real_), path = column("path", ""), kind = column("kind", ""), size = column("size", NA_real_),
    etag = column("etag", NA_character_), crc64nvme = column("crc64nvme", NA_character_), sha256 = column("sha256", NA_character_),
    stringsAsFactors = FALSE
  )
}
