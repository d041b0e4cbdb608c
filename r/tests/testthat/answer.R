# A server with prepared responses: Rscript answer.R FILE STATUSES BODIES PARENT [HEADER]...
#
# Statuses and bodies are separated by commas, one for each request; the last one is repeated. If the status is
# `interrupt`, PARENT is interrupted, and no response is sent. It listens on a free port, which it writes to FILE. It
# stops when the process PARENT has ended.
arguments <- commandArgs(TRUE)
parent <- as.integer(arguments[[4]])
statuses <- strsplit(arguments[[2]], ",")[[1]]
bodies <- strsplit(paste0(arguments[[3]], ","), if (length(statuses) > 1) "," else ",$")[[1]]
answer <- function(n) {
  body <- bodies[[min(n, length(bodies))]]
  lines <- c(
    paste("HTTP/1.1", statuses[[min(n, length(statuses))]], "Told"), arguments[-(1:4)], "Connection: close",
    paste("Content-Length:", nchar(body, "bytes")), "", body
  )
  charToRaw(paste(lines, collapse = "\r\n"))
}

for (port in sample(20000:60000)) {
  listener <- tryCatch(serverSocket(port), error = function(e) NULL)
  if (!is.null(listener)) break
}
writeLines(as.character(port), paste0(arguments[[1]], ".new"))
file.rename(paste0(arguments[[1]], ".new"), arguments[[1]])

asked_before <- 0
repeat {
  ready <- socketSelect(list(listener), timeout = 1)
  if (!tools::pskill(parent, 0)) break
  if (!ready) next
  client <- socketAccept(listener, blocking = TRUE, open = "r+b")
  while (length(asked <- readLines(client, 1)) && nzchar(asked)) next
  asked_before <- asked_before + 1
  if (statuses[[min(asked_before, length(statuses))]] == "interrupt") {
    tools::pskill(parent, tools::SIGINT)
    next # the connection stays open
  }
  writeBin(answer(asked_before), client)
  close(client)
}
