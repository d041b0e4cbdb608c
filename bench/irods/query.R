# 1,000,000 objects: GenQuery by the value of an attribute, with its name and without, as R sees it and as the server does; and
# the recursive list of the home.
source("bench/irods/client.R")

count <- as.numeric(Sys.getenv("COUNT", 1e6)) # fewer, to try this out
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

timed <- function(verb, query) {
  stopifnot(nrow(iquery(query, limit = 1000)) == described / 10)
  since <- length(logged())
  row <- measured(function() iquery(query, limit = 1000), verb, count)
  row$server <- median(server_seconds(since, "/query"))
  row
}
by <- "SELECT COLL_NAME, DATA_NAME WHERE META_DATA_ATTR_VALUE = '7'"
rows <- list(
  timed("iquery by attribute and value", paste(by, "AND META_DATA_ATTR_NAME = 'run'")),
  timed("iquery by value alone", by)
)

# As rirods asks for it, but nothing is made of the answer: it goes to a file as it comes.
login <- system2("curl", c("-sf", "-X", "POST", "-u", "rods:rods", paste0(url, "/irods-http-api/0.7.0/authenticate")), stdout = TRUE)
listed <- file.path(commandArgs(TRUE)[[1]], "listed")
list_home <- function() {
  address <- shQuote(paste0(url, "/irods-http-api/0.7.0/collections?op=list&recurse=1&lpath=/tempZone/home/rods"))
  status <- system2("curl", c("-sf", "-H", shQuote(paste("Authorization: Bearer", login)), "-o", listed, address))
  stopifnot(status == 0)
}
list_home()
stopifnot(lengths(regmatches(text <- readChar(listed, file.size(listed), TRUE), gregexpr("/tempZone/", text, fixed = TRUE))) > count)
since <- length(logged())
row <- measured(list_home, "recursive list of the home", count)
row$server <- median(server_seconds(since, "/collections"))
keep(c(rows, list(row)), "query")
