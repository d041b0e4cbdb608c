# iget of one small object, while the home has 10 objects and while it has 100,000 (a few less: rirods looks for a path in a
# listing that it cuts to 100,000 entries, and fails beyond).
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

rows <- lapply(c(10, 99990), function(n) {
  fill(n)
  file <- tempfile()
  back <- tempfile()
  writeLines("one", file)
  iput(file, "one", overwrite = TRUE)
  row <- measured(function() iget("one", back, overwrite = TRUE), "iget", n)
  irm("one", force = TRUE)
  irm("many", recursive = TRUE, force = TRUE)
  row
})
keep(rows, "home")
