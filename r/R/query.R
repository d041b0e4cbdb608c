#' Query with GenQuery
#'
#' If there are more rows than `limit`, a message of class `cenote_cut` is signalled. `limit = Inf` gets all rows, in as many requests as
#' the server requires.
#'
#' @param query A GenQuery statement, such as `"SELECT COLL_NAME, DATA_NAME WHERE DATA_NAME LIKE 'a%'"`; with `type = "specific"`, the
#'   name of a query that an administrator has stored.
#' @param limit The maximum number of rows. A limit in a `"genquery2"` statement applies if this one is not given.
#' @param offset How many rows to skip.
#' @param type `"general"` or `"specific"`.
#' @param case_sensitive Whether conditions distinguish upper and lower case.
#' @param distinct Whether to remove duplicate rows.
#' @param parser The language of the statement: `"genquery1"` or `"genquery2"`.
#' @param sql_only Whether to return the SQL of a `"genquery2"` statement instead of rows.
#' @param verbose Not used.
#' @param args The values of the `?` parameters of a specific query, in order.
#' @return A data frame with a column for each selected column, even if there are no rows: times as `POSIXct`, sizes as
#'   numbers, and everything else as text. The columns of a specific query are `V1`, `V2` and so on if the server does not know their names.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' imeta("cars.rds", operations = data.frame(operation = "add", attribute = "year", value = "1974"))
#' iquery("SELECT COLL_NAME, DATA_NAME, DATA_SIZE WHERE META_DATA_ATTR_NAME = 'year'")
#' iquery("select DATA_NAME order by DATA_NAME desc limit 5", parser = "genquery2")
#' iquery("ShowCollAcls", type = "specific", args = ipwd())
#' irm("cars.rds")
#' @export
iquery <- function(query, limit = 100, offset = 0, type = c("general", "specific"), case_sensitive = TRUE,
                   distinct = TRUE, parser = c("genquery1", "genquery2"), sql_only = FALSE, verbose = FALSE,
                   args = character()) {
  if (!is_text(query)) stop_cenote("invalid", "`query` must be one statement, or the name of one")
  type <- match.arg(type)
  parser <- match.arg(parser)
  check_flags(case_sensitive, distinct, sql_only)
  check_count(offset, "offset")
  check_count(limit, "limit")
  if (sql_only && (parser == "genquery1" || type == "specific")) {
    stop_cenote("invalid", "`sql_only` requires a statement and `parser = \"genquery2\"`")
  }
  if (length(args) && type == "general") stop_cenote("invalid", "`args` can be used only with `type = \"specific\"`")
  if (type == "specific") return(specific_rows(query, args, limit, offset))
  how <- list(parser = parser, `case-sensitive` = case_sensitive, distinct = distinct)
  if (sql_only) return(genquery(query, how, `sql-only` = TRUE)$sql)
  rows <- if (parser == "genquery1") {
    pages(limit, offset, function(count, from) genquery(query, how, offset = from, count = count)$rows)
  } else {
    second_rows(query, how, if (missing(limit)) NULL else limit, offset)
  }
  table_of(rows, columns_of(query))
}

genquery <- function(query, how, ...) {
  do.call(irods, c(list("GET", "query", op = "execute_genquery", query = query), how, list(...)))
}

# A statement in the second language may already have an offset and a limit.
second_rows <- function(query, how, limit, offset) {
  query <- sub(";\\s*$", "", query)
  if (!grepl("\\s(offset|limit|fetch)\\s", masked(query), ignore.case = TRUE)) {
    return(pages(limit %or% 100, offset, function(count, from) {
      genquery(paste0(query, " offset ", text_of(from), " limit ", text_of(count)), how)$rows
    }))
  }
  if (offset != 0) stop_cenote("invalid", "the statement has an offset or a limit of its own", "set the number of rows to skip there")
  first_rows(genquery(query, how)$rows, limit %or% Inf, 0)
}

specific_rows <- function(name, args, limit, offset) {
  args <- vapply(as.list(args), text_of, character(1))
  delimiter <- if (any(grepl(",", args, fixed = TRUE))) "\x1f" else ","
  rows <- pages(limit, offset, function(count, from) {
    irods("GET", "query",
      op = "execute_specific_query", name = name, args = if (length(args)) paste(args, collapse = delimiter),
      `args-delimiter` = delimiter, offset = from, count = count
    )$rows
  })
  columns <- specific_columns(name)
  if (length(rows) && length(columns) != ncol(rows)) columns <- paste0("V", seq_len(ncol(rows)))
  table_of(rows, columns)
}

# The columns of a specific query, if the server returns its statement.
specific_columns <- function(name) {
  stored <- tryCatch(irods("GET", "query", op = "list_specific_queries")$specific_queries, cenote_error = function(e) NULL)
  statement <- stored$sql[stored$name == name]
  if (length(statement) == 1 && nzchar(statement)) columns_of(statement)
}

# At most `limit` rows after the first `offset`. `page(count, from)` returns some of them; one row more than needed is requested, to
# see whether there are more.
pages <- function(limit, offset, page) {
  most <- state$info$max_number_of_rows_per_catalog_query
  wanted <- limit + 1
  pages <- list()
  got <- 0
  while (got < wanted && limit > 0) {
    count <- min(most, wanted - got)
    rows <- page(count, offset + got)
    if (length(rows)) pages <- c(pages, list(rows))
    got <- got + NROW(rows)
    if (NROW(rows) < count) break
  }
  first_rows(do.call(rbind, pages), limit, offset)
}

first_rows <- function(rows, limit, offset) {
  if (NROW(rows) <= limit) return(rows)
  message(structure(class = c("cenote_cut", "message", "condition"), list(call = NULL, message = paste0(
    "Only the first ", text_of(limit), " rows are shown, but there are more: use `limit = Inf` for all of them, or `offset = ",
    text_of(offset + limit), "` for the next.\n"
  ))))
  rows[seq_len(limit), , drop = FALSE]
}

# Rows are a character matrix, or NULL.
table_of <- function(rows, names) {
  if (!length(rows)) rows <- matrix(character(), 0, length(names))
  answer <- as.data.frame(rows, stringsAsFactors = FALSE)
  names(answer) <- make.unique(as.character(names))
  answer[] <- Map(typed, answer, names)
  answer
}

# The columns that a statement selects, in capital letters.
columns_of <- function(query) {
  text <- masked(query)
  begin <- regexpr("^\\s*select\\s+(no\\s+distinct\\s+|distinct\\s+)?", text, ignore.case = TRUE, perl = TRUE)
  from <- max(attr(begin, "match.length"), 0) + 1
  end <- regexpr("\\s(from|where|group\\s+by|order\\s+by|offset|limit|fetch)\\s|;?\\s*$", text, ignore.case = TRUE, perl = TRUE)
  letters <- strsplit(substring(text, from, end - 1), "")[[1]]
  between <- which(letters == "," & cumsum((letters == "(") - (letters == ")")) == 0)
  starts <- from + c(0, between)
  ends <- from + c(between, length(letters) + 1) - 2
  toupper(trimws(substring(query, starts, ends)))
}

# A statement with every character in quotes replaced by a blank.
masked <- function(query) {
  texts <- gregexpr("'([^']|'')*'", query)
  regmatches(query, texts) <- lapply(regmatches(query, texts), function(text) strrep("_", nchar(text)))
  query
}

typed <- function(values, name) {
  if (grepl("TIME\\)?$", name)) return(as.POSIXct(as.numeric(values), origin = "1970-01-01"))
  if (grepl("SIZE\\)?$", name)) return(as.numeric(values))
  values
}

# A string literal in a GenQuery statement.
quoted <- function(text) paste0("'", gsub("'", "''", text, fixed = TRUE), "'")
