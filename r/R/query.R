#' Ask with GenQuery
#'
#' @param query A GenQuery statement, such as `"SELECT COLL_NAME, DATA_NAME WHERE DATA_NAME LIKE 'a%'"`.
#' @param limit At most this many rows.
#' @param offset How many rows to leave out.
#' @param type Not needed; kept so that scripts for rirods run.
#' @param case_sensitive Whether `A` and `a` differ in conditions.
#' @param distinct Whether equal rows come once.
#' @param parser The parser: `"genquery1"`.
#' @param sql_only,verbose Not used.
#' @return A data frame with a column for each one selected: times as `POSIXct`, sizes as numbers.
#' @export
iquery <- function(query, limit = 100, offset = 0, type = character(1), case_sensitive = TRUE, distinct = TRUE,
                   parser = "genquery1", sql_only = FALSE, verbose = FALSE) {
  rows <- irods("GET", "query",
    op = "execute_genquery", query = query, offset = offset, count = limit, `case-sensitive` = case_sensitive,
    distinct = distinct, parser = parser
  )$rows
  names <- columns_of(query)
  if (!length(rows)) rows <- matrix(character(), 0, length(names))
  answer <- as.data.frame(rows, stringsAsFactors = FALSE)
  names(answer) <- make.unique(names)
  answer[] <- Map(typed, answer, names)
  answer
}

columns_of <- function(query) {
  selected <- sub("(?is)^\\s*select\\s+(.*?)(\\s+where\\s.*)?;?\\s*$", "\\1", query, perl = TRUE)
  toupper(trimws(strsplit(selected, ",", fixed = TRUE)[[1]]))
}

typed <- function(values, name) {
  if (grepl("TIME\\)?$", name)) return(as.POSIXct(as.numeric(values), origin = "1970-01-01", tz = "UTC"))
  if (grepl("SIZE\\)?$", name)) return(as.numeric(values))
  values
}
