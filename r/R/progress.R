# A progress bar for `total` bytes, with the rate and the remaining time: a function to call with the number of bytes transferred, or
# `already` there, which do not count in the rate. `clock` returns seconds.
progress <- function(total, shown, clock = function() proc.time()[["elapsed"]]) {
  if (!shown || is.na(total) || total == 0) return(function(bytes, already = FALSE) invisible())
  begun <- clock()
  drawn <- -Inf
  there <- 0
  done <- 0
  function(bytes, already = FALSE) {
    if (done == total) return(invisible())
    bytes <- min(bytes, total - done)
    done <<- done + bytes
    if (already) there <<- there + bytes
    now <- clock()
    if (done < total && now - drawn < redraw_after) return(invisible())
    drawn <<- now
    cat("\r", bar_line(done, total, done - there, now - begun), if (done == total) "\n", sep = "")
    utils::flush.console()
  }
}

redraw_after <- 0.1 # seconds

# One line: the share of the total that is done, and the rate over so many seconds.
bar_line <- function(done, total, moved, seconds, width = getOption("width")) {
  rate <- if (moved > 0 && seconds > 0) moved / seconds
  rest <- if (done == total) paste0(", ", told_seconds(seconds)) else if (!is.null(rate)) paste0(", ", told_seconds((total - done) / rate), " left")
  words <- paste0(
    if (done < total) paste0(told_bytes(done), " of "), told_bytes(total), if (!is.null(rate)) paste0(", ", told_bytes(rate), "/s"), rest
  )
  room <- max(width - 9 - 46, 10)
  marks <- floor(room * done / total)
  sprintf("%3.0f%% |%s%s| %-46s", floor(100 * done / total), strrep("=", marks), strrep(" ", room - marks), words)
}

# A number of bytes as text, such as "45.1 MB".
told_bytes <- function(bytes) {
  units <- c("B", "kB", "MB", "GB", "TB", "PB")
  power <- min(max(floor(log(max(bytes, 1), 1000)), 0), length(units) - 2)
  if (signif(bytes / 1000^power, 3) >= 1000) power <- power + 1
  paste(format(signif(bytes / 1000^power, 3), scientific = FALSE), units[[power + 1]])
}

told_seconds <- function(seconds) {
  if (seconds < 10) return(paste(format(round(seconds, 1), nsmall = 1), "s"))
  seconds <- round(seconds)
  if (seconds < 3600) return(sprintf("%.0f:%02.0f", seconds %/% 60, seconds %% 60))
  sprintf("%.0f:%02.0f:%02.0f", seconds %/% 3600, seconds %/% 60 %% 60, seconds %% 60)
}
