# iget of one small object, while the home has 10 objects, while it has 100,000 (a few less: rirods looks for a path in a
# listing that it cuts to 100,000 entries, and fails beyond), and with 10 again: what differs between the two is the machine's.
source("bench/irods/client.R")

# The program puts many files a request.
fill <- function(n) {
  files <- tempfile()
  dir.create(files)
  for (i in seq_len(n)) cat(i, file = file.path(files, paste0("f", i)))
  status <- system2(Sys.getenv("CENOTE"), c("put", "-r", "-q", files, ":/home/rods/many"),
    env = c("CENOTE_USER=rods", "CENOTE_PASSWORD=rods"), stdout = FALSE
  )
  stopifnot(status == 0)
  unlink(files, recursive = TRUE)
}

rows <- lapply(c(10, 99990, 10), function(n) {
  fill(n)
  file <- tempfile()
  back <- tempfile()
  writeLines("one", file)
  iput(file, "one", overwrite = TRUE)
  since <- length(logged())
  row <- measured(function() iget("one", back, overwrite = TRUE), "iget", n)
  row$server <- median(server_seconds(since, "/v1/fs/|data-objects|/stream"))
  irm("one", force = TRUE)
  irm("many", recursive = TRUE, force = TRUE)
  row
})
keep(rows, "home")
