# The vignette in `vignettes` has the output of its source. `CENOTE_UPDATE=1` rewrites it.

sources <- normalizePath(testthat::test_path("..", "..", "vignettes"), mustWork = FALSE)

test_that("the output in the vignette is what is printed", {
  need_server()
  skip_if_not(file.exists(file.path(sources, "cenote.Rmd.orig")), "the source of the vignette is not here")
  skip_if_not_installed("knitr")
  made <- tempfile(fileext = ".Rmd")
  knitr::knit(file.path(sources, "cenote.Rmd.orig"), made, quiet = TRUE, envir = new.env(parent = globalenv()))
  kept <- file.path(sources, "cenote.Rmd")
  if (nzchar(Sys.getenv("CENOTE_UPDATE"))) file.copy(made, kept, overwrite = TRUE)
  # Versions of knitr differ in blanks and empty lines.
  words <- function(file) sub("^``` +r$", "```r", grep(".", readLines(file, encoding = "UTF-8"), value = TRUE))
  expect_identical(words(made), words(kept))
})

test_that("every example runs, and every function has one", {
  need_server()
  pages <- list.files(file.path(dirname(sources), "man"), "[.]Rd$", full.names = TRUE)
  skip_if_not(length(pages) > 0, "the help pages are not here")
  shown <- character()
  in_new_directory()
  for (page in pages) {
    code <- utils::capture.output(tools::Rd2ex(page))
    code <- code[!startsWith(code, "##D ")]
    shown <- c(shown, if (length(code)) all.names(parse(text = code)))
    capture.output(suppressMessages(
      expect_error(eval(parse(text = code), new.env(parent = globalenv())), NA, info = basename(page))
    ))
  }
  expect_equal(nrow(ils()), 0)
  named <- grep("^(i[a-z]+|ireadRDS|isaveRDS)$", getNamespaceExports("cenote"), value = TRUE)
  expect_setequal(setdiff(named, shown), c("iauth", "iadmin"))
})
