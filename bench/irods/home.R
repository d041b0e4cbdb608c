# iget of one small object, while the home has 10 objects, while it has 100,000 (a few less: rirods looks for a path in
# a listing that it cuts to 100,000 entries, and fails beyond), and with 10 again: the difference between the two is due
# to the machine.
source("bench/irods/client.R")
source("bench/irods/fill.R")

rows <- lapply(c(10, 99990, 10), function(n) {
  step(paste("fill", told(n)), fill("many", n))
  file <- tempfile()
  back <- tempfile()
  writeLines("one", file)
  iput(file, "one", overwrite = TRUE)
  since <- length(logged())
  row <- step(paste("iget beside", told(n)), measured(function() iget("one", back, overwrite = TRUE), "iget", n))
  row$server <- median(server_seconds(since, "/v1/fs/|data-objects|/stream"))
  irm("one", force = TRUE)
  step(paste("remove", told(n)), irm("many", recursive = TRUE, force = TRUE))
  row
})
keep(rows, "home")
