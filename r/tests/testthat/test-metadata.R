test_that("attributes are added to objects and collections, and removed", {
  need_server()
  isaveRDS(1, "o")
  here <- "/tempZone/home/rods/tests"
  expect_invisible(imeta(here, operations = list(list(operation = "add", attribute = "foo", value = "bar", units = "baz"))))
  expect_equal(
    iquery(paste0("select META_COLL_ATTR_NAME, META_COLL_ATTR_VALUE, META_COLL_ATTR_UNITS where COLL_NAME = '", here, "'")),
    data.frame(META_COLL_ATTR_NAME = "foo", META_COLL_ATTR_VALUE = "bar", META_COLL_ATTR_UNITS = "baz")
  )
  imeta("o", operations = add(c("foo", "foo2"), c("bar", "c+d = 100%"), units = "baz"))
  imeta("o", operations = list(
    list(operation = "add", attribute = "foo", value = "bar", units = "baz"), # there already
    list(operation = "add", attribute = "foo6", value = "bar6")
  ))
  asked <- paste0("select META_DATA_ATTR_NAME, META_DATA_ATTR_VALUE where COLL_NAME = '", here, "' and DATA_NAME = 'o'")
  expect_equal(iquery(asked)$META_DATA_ATTR_VALUE, c("bar", "c+d = 100%", "bar6"))
  imeta("o", operations = data.frame(operation = "remove", attribute = "foo", value = "bar", units = "baz"))
  expect_equal(nrow(iquery(asked)), 2)
})

test_that("either all operations are applied, or none", {
  need_server()
  isaveRDS(1, "o")
  expect_error(imeta("o", operations = list(
    list(operation = "add", attribute = "a", value = "1"), list(operation = "add", attribute = "", value = "")
  )), class = "cenote_error")
  expect_message(ils(metadata = TRUE), "No metadata")
  expect_silent(imeta("o", operations = data.frame()))
  expect_error(imeta("none", operations = add("a", "b")), "/tests/none", class = "cenote_not_found")
  expect_error(imeta("o", operations = list(list(operation = "modify"))), class = "cenote_invalid")
})

test_that("the condition of a query is reported, and invalid queries", {
  need_server()
  expect_error(iquery("select DATA_NAME where DATA_SIZE > 1"), "quotes", class = "cenote_invalid")
  expect_error(iquery("select NOPE"), "NOPE", class = "cenote_invalid")
  expect_error(iquery("select DATA_NAME", sql_only = TRUE), "genquery2", class = "cenote_invalid")
  expect_match(iquery("select DATA_NAME", sql_only = TRUE, parser = "genquery2"), "select DATA_NAME")
  expect_error(iquery("ShowCollAcls", type = "specific", sql_only = TRUE), "`sql_only`", class = "cenote_invalid")
  expect_error(iquery("select DATA_NAME", args = "x"), "`args`", class = "cenote_invalid")
})

test_that("users have attributes, too", {
  need_server()
  imeta("rods", "user", operations = add("lab", "B12"))
  expect_true("rods" %in% iquery("select USER_NAME where META_USER_ATTR_NAME = 'lab'")$USER_NAME)
  imeta("rods", "user", operations = data.frame(operation = "remove", attribute = "lab", value = "B12"))
  expect_error(imeta("nobody", "user", operations = add("lab", "B12")), "USER_NAME", class = "cenote_not_found")
})

test_that("results of queries are data frames with types", {
  need_server()
  isaveRDS(1, "o")
  found <- iquery(
    "SELECT COLL_NAME, DATA_NAME, DATA_SIZE, COLL_CREATE_TIME WHERE COLL_NAME LIKE '/tempZone/home/rods/tests%'"
  )
  expect_named(found, c("COLL_NAME", "DATA_NAME", "DATA_SIZE", "COLL_CREATE_TIME"))
  expect_equal(found$DATA_NAME, "o")
  expect_type(found$DATA_SIZE, "double")
  expect_s3_class(found$COLL_CREATE_TIME, "POSIXct")
  expect_lt(abs(as.numeric(found$COLL_CREATE_TIME) - as.numeric(Sys.time())), 600)
})

test_that("a result without rows has its columns", {
  need_server()
  none <- iquery("SELECT DATA_NAME, DATA_SIZE, DATA_MODIFY_TIME WHERE DATA_NAME = 'none'")
  expect_equal(dim(none), c(0L, 3L))
  expect_type(none$DATA_SIZE, "double")
  expect_s3_class(none$DATA_MODIFY_TIME, "POSIXct")
  expect_equal(dim(iquery("select DATA_NAME", limit = 0)), c(0L, 1L))
})

test_that("queries have limits, offsets and cases", {
  need_server()
  for (name in c("a", "b", "c")) isaveRDS(1, name)
  asked <- "select DATA_NAME where COLL_NAME = '/tempZone/home/rods/tests'"
  expect_equal(iquery(asked)$DATA_NAME, c("a", "b", "c"))
  expect_message(cut <- iquery(asked, limit = 2), "limit = Inf.*offset = 2", class = "cenote_cut")
  expect_equal(cut$DATA_NAME, c("a", "b"))
  expect_silent(iquery(asked, limit = 3))
  expect_equal(iquery(asked, offset = 2)$DATA_NAME, "c")
  expect_equal(iquery(paste(asked, "and DATA_NAME = 'A'"))$DATA_NAME, character())
  expect_equal(iquery(paste(asked, "and DATA_NAME = 'A'"), case_sensitive = FALSE)$DATA_NAME, "a")
  expect_error(iquery("selec"), class = "cenote_error")
  expect_error(iquery(character()), class = "cenote_invalid")
  expect_error(iquery(asked, parser = "sql"))
})

# Queries a server that returns few rows at a time.
with_pages_of <- function(rows, code) {
  before <- state$info$max_number_of_rows_per_catalog_query
  at_end(function() state$info$max_number_of_rows_per_catalog_query <- before, parent.frame())
  state$info$max_number_of_rows_per_catalog_query <- rows
  force(code)
}

test_that("pages of any size give the same result as one request, in both languages, and report a cut", {
  need_server()
  dir <- tempfile()
  dir.create(dir)
  for (i in 1:23) writeBin(raw(1), file.path(dir, sprintf("f%02d", i)))
  iput(dir, "d")
  names <- sprintf("f%02d", 1:23)
  asked <- paste("select DATA_NAME, DATA_SIZE where COLL_NAME =", quoted(absolute("d")))
  for (parser in c("genquery1", "genquery2")) {
    ask <- function(...) {
      cut <- FALSE
      rows <- withCallingHandlers(iquery(asked, parser = parser, ...), cenote_cut = function(m) {
        cut <<- TRUE
        invokeRestart("muffleMessage")
      })
      list(rows = rows$DATA_NAME, cut = cut)
    }
    for (most in c(1, 7, 23)) {
      with_pages_of(most, {
        for (limit in c(0, 7, 22, 23, Inf)) {
          for (offset in c(0, 1, 23, 30)) {
            left <- utils::tail(names, max(23 - offset, 0))
            expect_identical(ask(limit = limit, offset = offset),
              list(rows = utils::head(left, limit), cut = limit > 0 && length(left) > limit),
              info = paste(parser, most, limit, offset)
            )
          }
        }
      })
    }
  }
})

test_that("a limit in the statement applies, unless another one is given", {
  need_server()
  for (name in c("a", "b", "c", "limit 2 ")) isaveRDS(1, name)
  asked <- paste("select DATA_NAME where COLL_NAME =", quoted(ipwd()), "order by DATA_NAME desc")
  second <- function(end, ...) iquery(paste(asked, end), parser = "genquery2", ...)$DATA_NAME
  expect_silent(rows <- second("limit 2"))
  expect_equal(rows, c("limit 2 ", "c"))
  expect_equal(second("offset 3 limit 2;"), "a")
  expect_equal(second("fetch first 1 rows only"), "limit 2 ")
  expect_message(rows <- second("limit 2", limit = 1), class = "cenote_cut")
  expect_equal(rows, "limit 2 ")
  expect_error(second("limit 2", offset = 1), "of its own", class = "cenote_invalid")
  expect_equal(iquery(paste(asked, ";"), parser = "genquery2")$DATA_NAME, c("limit 2 ", "c", "b", "a"))
  expect_equal(iquery("select DATA_NAME where DATA_NAME = 'limit 2 '", parser = "genquery2")$DATA_NAME, "limit 2 ")
})

test_that("specific queries are run, with their arguments and in pages", {
  need_server()
  access <- iquery("ShowCollAcls", type = "specific", args = ipwd())
  expect_equal(access[[1]], "rods")
  expect_equal(nrow(iquery("ShowCollAcls", type = "specific", args = "/tempZone/none")), 0)
  stored <- function(op, ...) irods("POST", "query", op = paste0(op, "_specific_query"), name = "named", ...)
  stored("add", sql = "select DATA_NAME, DATA_SIZE where COLL_NAME = ? and DATA_NAME like ?")
  at_end(function() stored("remove"), environment())
  for (name in c("a", "a,b", "ac", "b")) iput(file_with(raw(2)), name)
  ask <- function(pattern, ...) iquery("named", type = "specific", args = c(ipwd(), pattern), ...)
  expect_equal(ask("a%"), data.frame(DATA_NAME = c("a", "a,b", "ac"), DATA_SIZE = 2))
  expect_equal(ask("a,%")$DATA_NAME, "a,b")
  expect_named(ask("none"), c("DATA_NAME", "DATA_SIZE"))
  expect_message(ask("a%", limit = 2), class = "cenote_cut")
  expect_equal(with_pages_of(1, ask("a%", offset = 1))$DATA_NAME, c("a,b", "ac"))
  expect_error(iquery("none", type = "specific"), "no such specific query", class = "cenote_not_found")
})
