# iput and iget of files, `count = 1000`: the first published table.
source("bench/irods/client.R")

sizes <- c(312, 3913, 48914, 588915, 6888916)
rows <- lapply(sizes, function(size) {
  file <- tempfile()
  back <- tempfile()
  writeBin(rep_len(charToRaw("0123456789\n"), size), file)
  slow <- piecewise && size > 1e6
  name <- paste0("x", size)
  put <- measured(function() iput(file, name, overwrite = TRUE, count = 1000), "iput", size, slow)
  get <- measured(function() iget(name, back, overwrite = TRUE, count = 1000), "iget", size, slow)
  stopifnot(tools::md5sum(file) == tools::md5sum(back))
  irm(name, force = TRUE)
  rbind(put, get)
})
keep(rows, "files")
