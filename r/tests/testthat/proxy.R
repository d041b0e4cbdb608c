# A proxy that closes connections: Rscript proxy.R SERVER FILE UP DOWN TIMES PARENT
#
# It listens on a free port, which it writes to FILE, and forwards bytes between its clients and SERVER. When a
# connection has carried UP bytes to the server, or DOWN bytes from it, it is closed, TIMES times in total. It stops
# when the process PARENT has ended.
arguments <- commandArgs(TRUE)
address <- sub("^http://", "", arguments[[1]])
upstream <- list(host = sub(":.*", "", address), port = as.integer(sub(".*:", "", address)))
limits <- as.numeric(arguments[3:4])
times <- as.numeric(arguments[[5]])
parent <- as.integer(arguments[[6]])

for (port in sample(20000:60000)) {
  listener <- tryCatch(serverSocket(port), error = function(e) NULL)
  if (!is.null(listener)) break
}
writeLines(as.character(port), paste0(arguments[[2]], ".new"))
file.rename(paste0(arguments[[2]], ".new"), arguments[[2]])

pairs <- list()
drop <- function(i) {
  close(pairs[[i]]$ends[[1]])
  close(pairs[[i]]$ends[[2]])
  pairs[[i]] <<- NULL
}
# Forwards the bytes received at one end of a pair; FALSE if the pair has to be closed.
pass <- function(i, from) {
  bytes <- tryCatch(readBin(pairs[[i]]$ends[[from]], "raw", 65536), error = function(e) raw())
  if (!length(bytes)) return(FALSE)
  pairs[[i]]$carried[[from]] <<- pairs[[i]]$carried[[from]] + length(bytes)
  if (times > 0 && pairs[[i]]$carried[[from]] > limits[[from]]) {
    times <<- times - 1
    return(FALSE)
  }
  !inherits(try(writeBin(bytes, pairs[[i]]$ends[[3 - from]]), silent = TRUE), "try-error")
}

repeat {
  sockets <- c(list(listener), unlist(lapply(pairs, `[[`, "ends"), recursive = FALSE))
  ready <- socketSelect(sockets, timeout = 1)
  if (!tools::pskill(parent, 0)) break
  for (i in rev(seq_along(pairs))) {
    for (from in 1:2) {
      if (ready[[2 * i - 1 + from]] && !pass(i, from)) {
        drop(i)
        break
      }
    }
  }
  if (ready[[1]]) {
    client <- socketAccept(listener, blocking = FALSE, open = "r+b")
    origin <- socketConnection(upstream$host, upstream$port, blocking = FALSE, open = "r+b")
    pairs <- c(pairs, list(list(ends = list(client, origin), carried = c(0, 0))))
  }
}
