# Files of 100 MB and 1 GB beside curl and the native opening, in turn; every downloaded file is a new one.
source("bench/irods/client.R")
directory <- commandArgs(TRUE)[[2]]

seconds <- function(call) system.time(call())[["elapsed"]]
curl <- function(...) {
  status <- system2("curl", c("-sf", "-u", "rods:rods", "-o", ...))
  stopifnot(status == 0)
}

round_of <- function(size) {
  file <- file.path(directory, "large")
  back <- file.path(directory, "back")
  if (!isTRUE(file.size(file) == size)) system(paste("head -c", format(size, scientific = FALSE), "/dev/urandom >", file))
  there <- paste0(url, "/v1/fs/home/rods/large")
  unlink(back)
  times <- c(
    "curl put" = seconds(function() curl("/dev/null", "-T", file, there)),
    "curl get" = seconds(function() curl(back, there)),
    "curl verified get" = { # the same bytes hashed as they come, by the library that our package uses
      unlink(back)
      seconds(function() stopifnot(0 == system(paste("curl -sf -u rods:rods", there, "| tee", back, "| openssl dgst -sha256 >", file.path(directory, "digest")))))
    },
    "iget" = { # of what came in one piece: its digest is known, and compared
      unlink(back)
      seconds(function() stopifnot(!is.na(iget("large", back)$checksum)))
    },
    "iput" = seconds(function() iput(file, "large", overwrite = TRUE))
  )
  stopifnot(tools::md5sum(file) == tools::md5sum(back))
  unlink(back)
  irm("large")
  data.frame(size = size, what = names(times), seconds = times)
}
keep(c(replicate(7, round_of(1e8), simplify = FALSE), replicate(3, round_of(1e9), simplify = FALSE)), "large")
