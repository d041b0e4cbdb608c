# Files move in one request each. Bytes never pass through R: curl reads and writes the files, and the
# SHA-256 is computed in C.

#' Put a file or a directory
#'
#' @param local_path A file, or a directory with all that is in it.
#' @param logical_path Where it goes.
#' @param offset,count,truncate Have no effect: a file is put whole, in one request. Kept so that scripts for rirods
#'   run.
#' @param verbose Whether to show a progress bar.
#' @param overwrite Whether to replace what is there.
#' @param ticket A ticket to use.
#' @return The logical path, invisibly.
#' @export
iput <- function(local_path, logical_path = basename(local_path), offset = 0, count = 0, truncate = TRUE,
                 verbose = FALSE, overwrite = FALSE, ticket = NULL) {
  if (!file.exists(local_path)) {
    stop_cenote("not-found", paste0("no such file: ", local_path), "check the local path")
  }
  path <- absolute(logical_path)
  if (!dir.exists(local_path)) {
    put_files(local_path, path, overwrite, ticket, verbose)
    return(invisible(path))
  }
  files <- list.files(local_path, recursive = TRUE, all.files = TRUE, no.. = TRUE)
  collections <- unique(c(".", list.dirs(local_path, full.names = FALSE)[-1]))
  for (collection in collections) imkdir(paste0(path, "/", collection), TRUE, TRUE)
  put_files(file.path(local_path, files), paste0(path, "/", files), overwrite, ticket, verbose)
  invisible(path)
}

# Many at a time; all are tried, and then the first that failed is told.
put_files <- function(files, paths, overwrite, ticket, verbose) {
  if (!length(files)) return(invisible())
  if (!overwrite) check_absent(paths)
  faults <- list()
  pool <- curl::new_pool(host_con = 6)
  bar <- if (verbose) utils::txtProgressBar(max = length(files), style = 3)
  done <- 0
  for (i in seq_along(files)) {
    local({
      file <- files[[i]]
      path <- paths[[i]]
      curl::multi_add(put_handle(file, path, ticket), pool = pool,
        done = function(answer) {
          done <<- done + 1
          if (verbose) utils::setTxtProgressBar(bar, done)
          fault <- tryCatch(check_put(answer, file, path), error = identity)
          if (inherits(fault, "error")) faults[[length(faults) + 1]] <<- fault
        },
        fail = function(message) faults[[length(faults) + 1]] <<- simpleError(paste0(path, ": ", message))
      )
    })
  }
  curl::multi_run(pool = pool)
  if (verbose) close(bar)
  if (length(faults)) stop(faults[[1]])
}

check_absent <- function(paths) {
  for (path in paths) {
    if (!is.null(stat_of("data-objects", path))) {
      stop_cenote("exists", paste0("it is there already: ", path), hints$exists)
    }
  }
}

put_handle <- function(file, path, ticket) {
  h <- handle(url = api("data-objects"))
  form <- list(op = "write", lpath = path)
  if (!is.null(ticket)) form$ticket <- ticket
  form$bytes <- curl::form_file(file, "application/octet-stream")
  curl::handle_setform(h, .list = form)
  h
}

check_put <- function(answer, file, path) {
  check_status(answer)
  checked(jsonlite::fromJSON(rawToChar(answer$content)))
  verify(file, path)
}

# The bytes that are stored are those of the file.
verify <- function(file, path) {
  stored <- native("stat", path = inside(path))$sha256
  if (!is.null(stored) && !identical(stored, sha256(file))) {
    stop_cenote("mismatch", paste0("the bytes stored are not those of the file: ", path), "put it again")
  }
}

sha256 <- function(file) digest::digest(file = file, algo = "sha256")

#' Get a data object or a collection
#'
#' @param logical_path What to get.
#' @param local_path The file, or the directory, it goes to.
#' @param offset,count Have no effect: an object comes whole, in one request. Kept so that scripts for rirods run.
#' @param verbose Whether to show a progress bar.
#' @param overwrite Whether to replace files that are there.
#' @param ticket A ticket to use.
#' @param resume Whether to go on where an earlier call stopped.
#' @return The local path, invisibly.
#' @export
iget <- function(logical_path, local_path = basename(logical_path), offset = 0, count = 0, verbose = FALSE,
                 overwrite = FALSE, ticket = NULL, resume = FALSE) {
  path <- absolute(logical_path)
  if (!is_collection(path)) {
    get_files(path, local_path, verbose, overwrite, ticket, resume)
    return(invisible(local_path))
  }
  entries <- ils(path, recurse = TRUE, stat = TRUE)
  local <- file.path(local_path, substring(entries$logical_path, nchar(path) + 2))
  objects <- which(entries$type == "data_object")
  folders <- unique(c(local_path, local[entries$type == "collection"]))
  for (folder in folders) dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  if (length(objects)) {
    get_files(entries$logical_path[objects], local[objects], verbose, overwrite, ticket, resume)
  }
  invisible(local_path)
}

# A file appears under its name when it is whole; what has come so far waits beside it.
get_files <- function(paths, files, verbose, overwrite, ticket, resume) {
  taken <- file.exists(files)
  if (any(taken) && !overwrite) {
    stop_cenote("exists", paste0("the file is there already: ", files[taken][[1]]), hints$exists)
  }
  parts <- paste0(files, ".part")
  if (!resume) unlink(parts)
  urls <- vapply(paths, fs_url, character(1), USE.NAMES = FALSE)
  if (!is.null(ticket)) urls <- paste0(urls, "?ticket=", curl::curl_escape(ticket))
  got <- curl::multi_download(urls, parts, resume = resume, progress = verbose, httpheader = header_lines())
  for (i in seq_along(paths)) keep_file(got[i, ], paths[[i]], parts[[i]], files[[i]])
}

header_lines <- function() paste0(names(headers()), ": ", unlist(headers()))

keep_file <- function(got, path, part, file) {
  if (!file.exists(part)) file.create(part) # curl makes no file of an empty body
  if (!isTRUE(got$success)) {
    stop_cenote("unreachable", paste0(path, ": ", got$error), "call again with `resume = TRUE`")
  }
  if (!got$status_code %in% c(200, 206, 416)) {
    content <- readBin(part, "raw", 65536)
    unlink(part)
    check_status(list(status_code = got$status_code, content = content))
  }
  digest <- announced(got$headers[[1]])
  if (!is.null(digest) && !identical(digest, sha256(part))) {
    unlink(part)
    stop_cenote("mismatch", paste0("the bytes that came are not those stored: ", path), "get it again")
  }
  file.rename(part, file)
}

# The SHA-256 in a `Repr-Digest` header, in hexadecimal.
announced <- function(lines) {
  line <- grep("^repr-digest:", lines, ignore.case = TRUE, value = TRUE)
  encoded <- regmatches(line, regexpr("sha-256=:[^:]*:", line))
  if (!length(encoded)) return(NULL)
  paste(jsonlite::base64_dec(gsub("sha-256=:|:", "", encoded[[1]])), collapse = "")
}
