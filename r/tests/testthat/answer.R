# A server that gives one answer to all requests: Rscript answer.R FILE STATUS BODY PARENT [HEADER]...
#
# It listens on a free port, which it writes to FILE. It ends when the process PARENT has gone.
arguments <- commandArgs(TRUE)
parent <- as.integer(arguments[[4]])
lines <- c(
  paste("HTTP/1.1", arguments[[2]], "Told"), arguments[-(1:4)], "Connection: close",
  paste("Content-Length:", nchar(arguments[[3]], "bytes")), "", arguments[[3]]
)

for (port in sample(20000:60000)) {
  listener <- tryCatch(serverSocket(port), error = function(e) NULL)
  if (!is.null(listener)) break
}
writeLines(as.character(port), paste0(arguments[[1]], ".new"))
file.rename(paste0(arguments[[1]], ".new"), arguments[[1]])

repeat {
  ready <- socketSelect(list(listener), timeout = 1)
  if (!tools::pskill(parent, 0)) break
  if (!ready) next
  client <- socketAccept(listener, blocking = TRUE, open = "r+b")
  while (length(asked <- readLines(client, 1)) && nzchar(asked)) next
  writeBin(charToRaw(paste(lines, collapse = "\r\n")), client)
  close(client)
}
