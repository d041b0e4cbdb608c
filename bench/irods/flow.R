# The cost of a client session for the server: every verb thirty times, in a home with a few objects. The times are from
# the server's log, for each request except the recursive listings of the home that rirods requests (those are measured
# by `query`).
source("bench/irods/client.R")

file <- tempfile()
back <- tempfile()
writeBin(rep_len(charToRaw("0123456789\n"), 3913), file)
imkdir("flow")
icd("flow")
since <- length(logged())
suppressWarnings(for (i in 1:30) { # of deprecated arguments
  name <- paste0("o", i)
  iput(file, name, count = 1e5)
  iget(name, back, overwrite = TRUE, count = 1e5)
  isaveRDS(mtcars, paste0(name, ".rds"), count = 1e5)
  ireadRDS(paste0(name, ".rds"), count = 1e5)
  imeta(name, "data_object", operations = data.frame(operation = "add", attribute = "run", value = as.character(i)))
  iquery("SELECT COLL_NAME, DATA_NAME WHERE META_DATA_ATTR_NAME = 'run' AND META_DATA_ATTR_VALUE = '7'")
  ils(metadata = TRUE)
  ils(stat = TRUE, limit = 5)
  irm(name, force = TRUE)
})
seconds <- server_seconds(since)
icd("..")
irm("flow", recursive = TRUE, force = TRUE)
keep(list(data.frame(
  package = paste(package, version), requests = length(seconds), median = median(seconds),
  upper = as.numeric(quantile(seconds, 0.95)), longest = max(seconds)
)), "flow")
