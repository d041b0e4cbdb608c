test_that("collections are entered like directories", {
  need_server()
  imkdir("a/b", create_parent_collections = TRUE)
  home <- "/tempZone/home/rods/tests"
  expect_invisible(icd("."))
  expect_equal(icd("a"), home) # as setwd() does
  expect_equal(ipwd(), paste0(home, "/a"))
  icd("./b/")
  expect_equal(ipwd(), paste0(home, "/a/b"))
  icd("../../a")
  expect_equal(ipwd(), paste0(home, "/a"))
  icd("/tempZone/home")
  expect_equal(ipwd(), "/tempZone/home")
  icd("..")
  expect_equal(ipwd(), "/tempZone")
})

test_that("only collections can be entered", {
  need_server()
  isaveRDS(1, "o")
  for (dir in c("o", "none", "/tempZone/none", "/otherZone")) expect_error(icd(dir), class = "cenote_not_found")
  for (dir in list("", NA_character_, character(), c("a", "b"), NULL, 1)) {
    expect_error(icd(dir), class = "cenote_invalid")
  }
  expect_equal(ipwd(), "/tempZone/home/rods/tests")
})

test_that("collections are created and removed", {
  need_server()
  expect_invisible(imkdir("a"))
  expect_equal(ils()$logical_path, "/tempZone/home/rods/tests/a")
  expect_error(imkdir("a"), class = "cenote_exists")
  expect_silent(imkdir("a", overwrite = TRUE))
  expect_error(imkdir("x/y"), "no such collection, .*/x\n.*create_parent_collections", class = "cenote_not_found")
  expect_silent(imkdir("x/y", create_parent_collections = TRUE))
  expect_equal(basename(ils()$logical_path), c("a", "x"))
  expect_invisible(irm("a", force = TRUE))
  expect_error(irm("x"), "/tests/x\n.*recursive", class = "cenote_not_empty")
  irm("x", recursive = TRUE)
  expect_message(print(ils()), "does not contain any objects or collections")
  expect_error(irm("x"), class = "cenote_not_found")
})

test_that("a path that is not text in its encoding is refused", {
  need_server()
  expect_error(imkdir("caf\xe9"), "Encoding", class = "cenote_invalid")
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  imkdir(latin)
  expect_equal(last_name(ils()$logical_path), "caf\u00e9")
})

test_that("resources that are not removed permanently are moved to the trash", {
  need_server()
  isaveRDS(1, "o")
  irm("o", force = FALSE)
  expect_equal(nrow(ils()), 0)
  trashed <- ils("/tempZone/trash/home/rods", recurse = TRUE)$logical_path
  expect_true(any(grepl("/o", trashed)))
})
