# Many requests, a few at a time, over persistent connections.

# Performs the requests 1 to n. `request(i)` gives a list with a handle, `done(answer)`, `data` if the body is
# streamed, `drop`, which releases its resources and is called however the request ends, and `count`, if the request is for several
# files. All requests are tried; then the first error is reported, with the number of errors.
each_request <- function(n, request, width = 6L) {
  pool <- curl::new_pool(host_con = width, multiplex = FALSE)
  faults <- list()
  begun <- 0L
  things <- 0
  failed <- function(e, count = 1) faults <<- c(faults, e$faults %or% rep(list(e), count))
  under_way <- list()
  drop <- function(asked) {
    under_way[[asked$key]] <<- NULL
    if (!is.null(asked$drop)) asked$drop()
  }
  on.exit(for (asked in under_way) drop(asked)) # what an interrupt leaves
  add <- function(i, tries) {
    asked <- c(request(i), key = as.character(i), token = state$token)
    count <- asked$count %or% 1
    under_way[[asked$key]] <<- asked
    curl::multi_add(asked$handle, pool = pool, data = asked$data,
      done = function(answer) {
        wait <- if (tries > 0) wait_before_retry(answer, asked$token)
        if (is.null(wait)) {
          things <<- things + count
          tryCatch(asked$done(answer), error = function(e) failed(e, count))
        }
        drop(asked)
        if (!is.null(wait)) {
          Sys.sleep(wait)
          if (attempt(i, tries - 1)) return()
        }
        advance()
      },
      fail = function(message) {
        drop(asked)
        things <<- things + count
        failed(tryCatch(stop_interrupted(message), error = identity), count)
        advance()
      }
    )
    TRUE
  }
  attempt <- function(i, tries) {
    tryCatch(add(i, tries), error = function(e) {
      things <<- things + 1
      failed(e)
      FALSE
    })
  }
  advance <- function() {
    while (begun < n) {
      begun <<- begun + 1L
      if (attempt(begun, 2)) return()
    }
  }
  for (connection in seq_len(min(width, n))) advance()
  curl::multi_run(pool = pool)
  stop_first(faults, things)
}

# How long to wait before a request is sent again, in seconds; NULL if its response is final.
wait_before_retry <- function(answer, token) {
  if (is_overloaded(answer)) return(0.2)
  renewed <- answer$status_code == 401 && tryCatch(token_renewed(token), cenote_error = function(e) FALSE)
  if (renewed) 0
}

stop_interrupted <- function(message) {
  stop_cenote("unreachable", sub("\n  hint: .*", "", message), "call again: a large file continues where it stopped")
}

# One error that stands for several, which each_request() counts one by one.
stop_several <- function(faults) {
  if (length(faults)) stop(structure(class = c("cenote_error", "error", "condition"), list(message = "", call = NULL, faults = faults)))
}

stop_first <- function(faults, n) {
  if (!length(faults)) return(invisible())
  fault <- faults[[1]]
  if (n > 1) fault$message <- paste0(length(faults), " of ", n, " failed; the first: ", fault$message)
  stop(fault)
}

# The result of iput() and iget().
transfers <- function(paths, files, digests, transferred) {
  checksum <- vapply(digests, function(digest) {
    if (is.null(digest)) NA_character_ else paste0("sha2:", jsonlite::base64_enc(digest))
  }, character(1))
  data.frame(
    logical_path = paths, local_path = files, size = file.size(files), checksum = checksum, transferred = transferred,
    body = files, stringsAsFactors = FALSE
  )
}
