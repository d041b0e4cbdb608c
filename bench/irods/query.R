# 1,000,000 objects: GenQuery by the value of an attribute, with its name and without, as measured by R and by the
# server; and the listing of the home, as a data frame in R and as bytes that are only received.
source("bench/irods/client.R")
source("bench/irods/fill.R")

count <- as.numeric(Sys.getenv("COUNT", 1e6)) # fewer, to try this out
described <- 1000

step(paste("fill", told(count)), fill("million", count))
step(paste("describe", told(described)), for (i in seq_len(described)) {
  imeta(paste0("million/", numbered(i * (count %/% described))),
    operations = data.frame(operation = "add", attribute = "run", value = as.character(i %% 10))
  )
})

# A row for a call, with the server's share of it: the logged times of the matching requests.
with_server <- function(call, verb, pattern) {
  since <- length(logged())
  row <- step(verb, measured(call, verb, count))
  row$server <- median(server_seconds(since, pattern))
  row
}

query <- function(verb, statement) {
  stopifnot(nrow(iquery(statement, limit = 1000)) == described / 10)
  with_server(function() iquery(statement, limit = 1000), verb, "/query")
}
by <- "SELECT COLL_NAME, DATA_NAME WHERE META_DATA_ATTR_VALUE = '7'"

list_in_r <- function() stopifnot(nrow(ils("million", limit = count)) == count)

# The same request as by rirods, but the response is not parsed: it is written to a file.
login <- system2("curl", c("-sf", "-X", "POST", "-u", "rods:rods", paste0(url, "/irods-http-api/0.7.0/authenticate")), stdout = TRUE)
listed <- tempfile()
list_home <- function() {
  address <- shQuote(paste0(url, "/irods-http-api/0.7.0/collections?op=list&recurse=1&lpath=/tempZone/home/rods"))
  status <- system2("curl", c("-sf", "-H", shQuote(paste("Authorization: Bearer", login)), "-o", listed, address))
  stopifnot(status == 0)
}
list_home()
stopifnot(length(jsonlite::fromJSON(listed)$entries) > count)

keep(list(
  query("iquery by attribute and value", paste(by, "AND META_DATA_ATTR_NAME = 'run'")),
  query("iquery by value alone", by),
  with_server(list_in_r, "list with ils", "/collections"),
  with_server(list_home, "recursive list of the home", "/collections")
), "query")
