# isaveRDS and ireadRDS of objects, `count = 1000`: the second published table. The published objects were compact
# sequences, of which R writes 283 bytes whatever their length; these have the stated sizes.
source("bench/irods/client.R")

rows <- lapply(10^(2:6), function(n) {
  object <- data.frame(random_numbers_of_a_bench = sample.int(.Machine$integer.max, n))
  size <- as.numeric(object.size(object))
  slow <- piecewise && size > 1e6
  save <- measured(function() isaveRDS(object, "object.rds", overwrite = TRUE, count = 1000), "isaveRDS", size, slow)
  read <- measured(function() ireadRDS("object.rds", count = 1000), "ireadRDS", size, slow)
  stopifnot(identical(object, ireadRDS("object.rds", count = 1e6)))
  irm("object.rds", force = TRUE)
  rbind(save, read)
})
keep(rows, "objects")
