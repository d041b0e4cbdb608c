#' Ask with GenQuery
#'
#' @param query A GenQuery statement, such as `"SELECT COLL_NAME, DATA_NAME WHERE DATA_NAME LIKE 'a%'"`.
#' @param limit At most this many rows.
#' @param offset How many rows to leave out.
#' @param type `"general"`; kept so that scripts for rirods run. Specific queries are refused.
#' @param case_sensitive Whether `A` and `a` differ in conditions.
#' @param distinct Whether equal rows come once.
#' @param parser The language of the statement: `"genquery1"` or `"genquery2"`.
#' @param sql_only Whether to give the SQL that a `"genquery2"` statement stands for, instead of rows.
#' @param verbose Not used.
#' @return A data frame with a column for each one selected, even if there are no rows: times as `POSIXct`, sizes as
#'   numbers, and all else as text.
#' @examplesIf is_connected_irods()
#' iquery("SELECT COLL_NAME, DATA_NAME, DATA_SIZE WHERE META_DATA_ATTR_NAME = 'year'")
#' @export
iquery <- function(query, limit = 100, offset = 0, type = c("general", "specific"), case_sensitive = TRUE,
                   distinct = TRUE, parser = c("genquery1", "genquery2"), sql_only = FALSE, verbose = FALSE) {
  if (!is_text(query)) stop_cenote("invalid", "`query` is one statement")
  parser <- match.arg(parser)
  check_flags(case_sensitive, distinct, sql_only)
  if (match.arg(type) == "specific") {
    stop_cenote("invalid", "specific queries cannot be asked", "give the statement that it stands for")
  }
  if (sql_only && parser == "genquery1") stop_cenote("invalid", "`sql_only` needs `parser = \"genquery2\"`")
  check_count(offset, "offset")
  check_count(limit, "limit")
  if (limit == 0) return(table_of(list(), query))
  answer <- irods("GET", "query",
    op = "execute_genquery", query = query, offset = offset, count = min(limit, 1e9),
    `case-sensitive` = case_sensitive, distinct = distinct, parser = parser, `sql-only` = sql_only
  )
  if (sql_only) return(answer$sql)
  utils::head(table_of(answer$rows, query), limit)
}

# All rows of a statement, in as many requests as the server wants.
query_all <- function(query) {
  pages <- list()
  repeat {
    page <- iquery(query, limit = Inf, offset = sum(vapply(pages, nrow, integer(1))))
    if (!nrow(page) && length(pages)) break
    pages <- c(pages, list(page))
    if (nrow(page) < state$info$max_number_of_rows_per_catalog_query) break
  }
  do.call(rbind, pages)
}

table_of <- function(rows, query) {
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
  if (grepl("TIME\\)?$", name)) return(as.POSIXct(as.numeric(values), origin = "1970-01-01"))
  if (grepl("SIZE\\)?$", name)) return(as.numeric(values))
  values
}

# A text in a GenQuery statement.
quoted <- function(text) paste0("'", gsub("'", "''", text, fixed = TRUE), "'")
