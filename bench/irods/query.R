# GenQuery over 1,000,000 objects: those with one value of an attribute, 100 of them, and how many there are in all.
source("bench/irods/client.R")

count <- 1e6
described <- 1000

files <- file.path(commandArgs(TRUE)[[1]], "million")
dir.create(files)
system(paste0("cd ", files, " && seq ", format(count, scientific = FALSE), " | split -l 1 -a 5"))
status <- system2(Sys.getenv("CENOTE"), c("put", "-r", "-q", files, ":/home/rods/million"),
  env = c("CENOTE_USER=rods", "CENOTE_PASSWORD=rods"), stdout = FALSE
)
stopifnot(status == 0)
unlink(files, recursive = TRUE)

names <- basename(ils("million", limit = count)$logical_path)
stopifnot(length(names) == count)
for (i in seq_len(described)) {
  imeta(paste0("million/", names[[i * (count %/% described)]]),
    operations = data.frame(operation = "add", attribute = "run", value = as.character(i %% 10))
  )
}

by_value <- "SELECT COLL_NAME, DATA_NAME WHERE META_DATA_ATTR_NAME = 'run' AND META_DATA_ATTR_VALUE = '7'"
stopifnot(nrow(iquery(by_value, limit = 1000)) == described / 10)
keep(list(measured(function() iquery(by_value, limit = 1000), "iquery by value", count)), "query")
