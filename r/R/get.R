#' Get a data object or a collection
#'
#' An object of any size is transferred in one request, directly to disk, and its CRC-64/NVME is compared with the server's
#' (or its SHA-256, if the server knows only that). The file appears under its name only when it is complete, and replaces an
#' existing file atomically. Until then, and after an interruption, the bytes received so far are kept beside it in a file that ends in
#' `.part`, from which the next call continues. Two calls never write the same `.part` file at the same time.
#'
#' Collections are transferred with their contents, with several requests in parallel, and many small objects per request. With
#' `overwrite = "changed"`, files that already exist with the same bytes are skipped: an interrupted call can be continued, and
#' updating a directory transfers only what has changed. Local files that are not in the collection are kept. A name that
#' leads out of the directory is refused. Links in the store, and resources without content, are skipped, with a
#' warning of class `cenote_skipped`, whose field `skipped` has the paths.
#'
#' @param logical_path The data object or collection to get.
#' @param local_path The file, or the directory, to write to.
#' @param offset The first byte to get.
#' @param count Accepted for compatibility, without effect: the transfer does not need a piece size.
#' @param verbose Whether to show a progress bar with the transfer rate.
#' @param overwrite Whether to replace existing files: `TRUE`, `FALSE`, or `"changed"`, which replaces only files that differ.
#' @param ticket A ticket to use.
#' @param resume Whether to continue where an earlier call was interrupted.
#' @return Invisibly, a data frame with a row for each file: `logical_path`, `local_path`, `size`, `checksum` (missing
#'   if the server does not know it yet, and with an `offset`), `transferred` (`FALSE` if the file already had the same bytes), and
#'   `body`, which is the local path under the name that rirods uses.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' file <- tempfile()
#' iget("cars.rds", file)
#' imkdir("runs")
#' for (i in 1:3) isaveRDS(i, paste0("runs/", i))
#' dir <- tempfile()
#' iget("runs", dir, verbose = TRUE)
#' iget("runs", dir, overwrite = "changed")$transferred
#' irm("cars.rds")
#' irm("runs", recursive = TRUE)
#' @export
iget <- function(logical_path, local_path = basename(logical_path), offset = 0, count = 0, verbose = FALSE,
                 overwrite = FALSE, ticket = NULL, resume = TRUE) {
  path <- absolute(logical_path)
  check_count(offset, "offset")
  if (missing(local_path)) local_path <- here(last_name(path)) # basename() knows fewer letters
  if (!is_text(local_path)) stop_cenote("invalid", "`local_path` must be one path")
  check_flags(verbose, resume)
  local_path <- local_name(local_path)
  how <- c(overwriting(overwrite), list(offset = offset, ticket = ticket, resume = resume && offset == 0))
  if (dir.exists(local_path) && is_collection(path)) return(invisible(get_tree(path, local_path, how, verbose)))
  tryCatch(
    invisible(get_one(path, local_path, how, verbose)),
    cenote_wrong_kind = function(e) invisible(get_tree(path, local_path, how, verbose))
  )
}

get_one <- function(path, file, how, verbose) {
  told <- if (how$changed && how$offset == 0 && file.exists(file)) stored_at(path, how$ticket)
  same <- !is.null(told) && are_same(told, file)
  digest <- if (same) binary(told$sha256) else get_file(path, file, how, verbose)
  transfers(path, file, list(digest), !same)
}

# Whether files have the bytes of objects (according to a table with `size`, `crc64nvme` and `sha256`).
are_same <- function(told, files) {
  same <- (file.size(files) == told$size & !dir.exists(files)) %in% TRUE
  by_crc <- !is.na(told$crc64nvme)
  digest <- function(i) {
    hexadecimal(if (by_crc[[i]]) crc64nvme(files[[i]]) else sha256(files[[i]]))
  }
  expected <- ifelse(by_crc, told$crc64nvme, told$sha256)
  for (i in which(same)) same[[i]] <- identical(expected[[i]], digest(i))
  same
}

# Returns the SHA-256, if the server knows it.
get_file <- function(path, file, how, verbose) {
  check_target(file, how)
  part <- parts_of(file)
  if (how$resume && isTRUE(file.size(part) > 0)) {
    return(get_streams(path, file, how, progress(size_of(path, verbose), verbose))[[1]])
  }
  lock <- lock_part(part)
  on.exit(let_go(lock, part))
  h <- get_handle(path, how$offset, how)
  if (verbose) show_received(h)
  got <- fetch_hashed(fs_url(path), h, part)
  check_got(got$answer, part, if (how$offset > 0) 206 else 200)
  keep_file(got$answer, part, file, got$crc, how$offset == 0)
}

# A response whose body is written to a file, and the body's CRC, which is computed during the transfer.
fetch_hashed <- function(url, h, file) {
  crc <- NULL
  drop <- function() if (!is.null(crc)) end_digest(crc)
  on.exit(drop())
  fetch <- function(url, handle) { # again, where the server was overloaded
    drop()
    remove_files(file) # ext4 writes a file out at once that was made empty before: it has to be a new one
    crc <<- begin_digest(file, algorithm = "crc64nvme")
    curl::curl_fetch_disk(url, file, handle)
  }
  answer <- tryCatch(send(url, h, fetch), cenote_unreachable = function(e) stop_interrupted(conditionMessage(e)))
  if (!file.exists(file)) create_file(file) # curl makes no file of an empty body
  list(answer = answer, crc = end_digest(crc, file.size(file)))
}

# For one file, or for many in directories created by this call.
check_target <- function(files, how) {
  for (file in files[dir.exists(files)]) {
    stop_cenote("exists", paste0("a directory of this name already exists: ", file), "include the file name in the path")
  }
  for (file in files[!how$overwrite & file.exists(files)]) {
    stop_cenote("exists", paste0("the file already exists: ", file))
  }
  for (dir in unique(dirname(files))) {
    if (!dir.exists(dir)) stop_cenote("not-found", paste0("no such directory: ", dir), "check the local path")
  }
}

# The names of `.part` files; if a target has such a name itself, longer ones are used.
parts_of <- function(files) {
  ending <- ".part"
  while (any(paste0(files, ending, recycle0 = TRUE) %in% files)) ending <- paste0(ending, ".part")
  paste0(files, ending, recycle0 = TRUE)
}

# Two calls that write the same part at the same time could both find the right digest and still leave a mixture of bytes. The lock
# is on an empty file in the user's cache that stands for the part.
lock_part <- function(part) {
  locks <- file.path(tools::R_user_dir("cenote", "cache"), "locks")
  dir.create(locks, showWarnings = FALSE, recursive = TRUE)
  path <- file.path(normalizePath(dirname(part), mustWork = FALSE), basename(part))
  lock <- .Call(lock_take, native_path(file.path(locks, hexadecimal(.Call(crc_of, charToRaw(path))))))
  if (is.null(lock)) stop_cenote("busy", paste0("it is already being transferred: ", part), "wait for the other call, or the other session")
  lock
}

# An empty part is removed.
let_go <- function(lock, part) {
  if (isTRUE(file.size(part) == 0)) remove_files(part)
  unlock(lock)
}

unlock <- function(lock) .Call(lock_release, lock)

get_handle <- function(path, offset, how) {
  h <- handle(url = fs_url(path), headers = ticket_header(how$ticket), buffersize = 512L * 1024L)
  if (offset > 0) curl::handle_setopt(h, range = paste0(text_of(offset), "-"))
  moving(h)
}

show_received <- function(h) {
  tick <- NULL
  moved <- 0
  curl::handle_setopt(h, noprogress = FALSE, progressfunction = function(down, up) {
    if (is.null(tick) && down[[1]] > 0) tick <<- progress(down[[1]], TRUE)
    if (!is.null(tick)) tick(down[[2]] - moved)
    moved <<- down[[2]]
    TRUE
  })
}

size_of <- function(path, wanted) if (wanted) native("GET", "stat", path = inside(path))$size else NA

# Reading past the end of an object returns nothing and is not an error. The message of any other error is in the part.
check_got <- function(answer, part, expected) {
  if (answer$status_code == expected) return(invisible())
  answer$content <- readBin(part, "raw", 65536)
  remove_files(part)
  if (expected == 200 || answer$status_code != 416) check_status(answer, expected = expected)
  create_file(part)
}

# Renames the part to the file, replacing an existing one, if its bytes match the server's digest. Returns their SHA-256, if the
# server knows it.
keep_file <- function(answer, part, file, crc = NULL, whole = TRUE) {
  told <- if (whole) announced(answer)
  if (isFALSE(is_announced(told, part, crc))) {
    remove_files(part)
    stop_cenote("mismatch", paste0("the received bytes differ from those stored: ", file))
  }
  if (!.Call(replace_file, native_path(part), native_path(file)) && !suppressWarnings(file.rename(part, file))) {
    stop_cenote("invalid", paste0("the file cannot be replaced: ", file), paste0("the received bytes are in ", part))
  }
  told$sha256
}

# Whether a file has the digests that were announced; NA if none were. Its CRC may be known already.
is_announced <- function(told, file, crc = NULL) {
  if (!is.null(told$crc64nvme)) return(identical(told$crc64nvme, if (is.null(crc)) crc64nvme(file) else crc))
  if (!is.null(told$sha256)) identical(told$sha256, sha256(file)) else NA
}

# The digests in `Repr-Digest` headers: several lines are one list (RFC 9651, 3.2).
announced <- function(answer) {
  lines <- grep("^repr-digest:", curl::parse_headers(answer$headers), ignore.case = TRUE, value = TRUE)
  list <- paste(sub("^[^:]*:", "", lines), collapse = ",")
  digest <- function(algorithm) {
    encoded <- regmatches(list, regexec(paste0("\\b", algorithm, "=:([^:]*):"), list))[[1]]
    if (length(encoded)) jsonlite::base64_dec(encoded[[2]])
  }
  list(sha256 = digest("sha-256"), crc64nvme = digest("crc64nvme"))
}
