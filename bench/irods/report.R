# The results of the parts, as tables in Markdown.
out <- commandArgs(TRUE)[[1]]

rows_of <- function(part) {
  files <- list.files(out, paste0("^", part, "-.*[.]tsv$"), full.names = TRUE)
  do.call(rbind, lapply(files, read.delim))
}

time_of <- function(seconds) {
  ifelse(seconds < 1, paste(signif(seconds * 1000, 3), "ms"), paste(signif(seconds, 3), "s"))
}

memory_of <- function(bytes) {
  ifelse(bytes < 1e6, paste(round(bytes / 1e3), "KB"), paste(format(round(bytes / 1e6, 1), nsmall = 1), "MB"))
}

markdown <- function(table) {
  cells <- apply(format(table, trim = TRUE), 1, paste, collapse = " | ")
  cat("|", paste(names(table), collapse = " | "), "|\n", strrep("|---", ncol(table)), "|\n", sep = "")
  cat(paste0("| ", cells, " |"), sep = "\n")
  cat("\n")
}

# One row per size; for each package, the time of each verb, its allocations, and the ratio of its time to that of
# cenote.
by_package <- function(part) {
  rows <- rows_of(part)
  if (is.null(rows)) return(invisible())
  ours <- rows[grepl("^cenote", rows$package), ]
  rows$ratio <- rows$median / ours$median[match(paste(rows$verb, rows$size), paste(ours$verb, ours$size))]
  rows <- rows[order(rows$verb, rows$size, rows$package), ]
  markdown(data.frame(
    verb = rows$verb, bytes = format(rows$size, big.mark = ","), package = rows$package, median = time_of(rows$median),
    `x cenote` = format(round(rows$ratio, 1), nsmall = 1), `R allocates` = memory_of(rows$mem_alloc),
    iterations = rows$iterations, check.names = FALSE
  ))
}

# The times logged by the server.
by_server <- function(part) {
  rows <- rows_of(part)
  if (is.null(rows)) return(invisible())
  markdown(data.frame(
    verb = rows$verb, `n` = format(rows$size, big.mark = ",", scientific = FALSE), package = rows$package,
    median = time_of(rows$median), server = time_of(rows$server), `n a second` = ifelse(grepl("list", rows$verb), format(signif(rows$size / rows$median, 3), big.mark = ",", scientific = FALSE, trim = TRUE), ""),
    check.names = FALSE
  ))
}

flow <- function() {
  rows <- rows_of("flow")
  if (is.null(rows)) return(invisible())
  markdown(data.frame(
    package = rows$package, requests = rows$requests, `server, median` = time_of(rows$median), `95 of 100 below` = time_of(rows$upper),
    longest = time_of(rows$longest), check.names = FALSE
  ))
}

large <- function() {
  rows <- rows_of("large")
  if (is.null(rows)) return(invisible())
  median_of <- function(size, what) median(rows$seconds[rows$size == size & rows$what == what])
  pairs <- expand.grid(size = unique(rows$size), verb = c("put", "get"))
  ours <- mapply(function(size, verb) median_of(size, paste0("i", verb)), pairs$size, pairs$verb)
  theirs <- mapply(function(size, verb) median_of(size, paste0("curl ", verb)), pairs$size, pairs$verb)
  hashed <- mapply(function(size, verb) if (verb == "get") median_of(size, "curl verified get") else NA, pairs$size, pairs$verb)
  markdown(data.frame(
    verb = paste0("i", pairs$verb), bytes = format(pairs$size, big.mark = ",", scientific = FALSE), cenote = time_of(ours),
    curl = time_of(theirs), `of curl` = round(theirs / ours, 2), `curl, hashed as it comes` = time_of(hashed), check.names = FALSE
  ))
}

for (part in c("files", "objects")) by_package(part)
for (part in c("home", "query")) by_server(part)
flow()
large()
