board_here <- function(..., cache = tempfile()) {
  skip_if_not_installed("pins")
  options(pins.quiet = TRUE)
  board_cenote("pins", ..., cache = cache)
}

test_that("a pin is written once and can be read anywhere", {
  need_server()
  board <- board_here()
  pins::pin_write(board, mtcars, "cars", type = "rds", tags = "old")
  expect_equal(pins::pin_list(board), "cars")
  other <- board_here()
  expect_identical(pins::pin_read(other, "cars"), mtcars)
  expect_equal(pins::pin_meta(other, "cars")$tags, "old", ignore_attr = TRUE)
  expect_equal(pins::pin_search(other, "cars")$name, "cars")
  expect_output(print(other), "/tempZone/home/rods/tests/pins")
  icd("..") # a board does not move with the current collection
  expect_identical(pins::pin_read(other, "cars"), mtcars)
})

test_that("a pin has versions", {
  need_server()
  board <- board_here()
  for (i in 1:3) pins::pin_write(board, i, "number", metadata = list(run = i))
  versions <- pins::pin_versions(board, "number")$version
  expect_length(versions, 3)
  other <- board_here()
  expect_setequal(vapply(versions, function(v) pins::pin_read(other, "number", version = v), 1), 1:3)
  pins::pin_version_delete(other, "number", versions[[1]])
  expect_equal(nrow(pins::pin_versions(board, "number")), 2)
  expect_error(pins::pin_read(board, "number", version = "none"), class = "pins_pin_version_missing")
})

test_that("without versions, a pin is replaced", {
  need_server()
  board <- board_here(versioned = FALSE)
  pins::pin_write(board, 1, "number")
  pins::pin_write(board, 2, "number")
  expect_equal(pins::pin_read(board, "number"), 2)
  expect_equal(nrow(pins::pin_versions(board, "number")), 1)
})

test_that("pins are files and directories of the store, and can be removed", {
  need_server()
  board <- board_here()
  files <- file.path(tempdir(), c("one.txt", "two.txt"))
  for (file in files) writeLines(basename(file), file)
  pins::pin_upload(board, files, "texts")
  expect_true(any(grepl("/pins/texts/.*/two.txt$", ils("pins", recurse = TRUE)$logical_path)))
  expect_equal(readLines(pins::pin_download(board_here(), "texts")[[2]]), "two.txt")
  expect_true(pins::pin_exists(board, "texts"))
  pins::pin_delete(board_here(), "texts")
  expect_false(pins::pin_exists(board, "texts"))
  expect_error(pins::pin_read(board, "texts"), class = "pins_pin_missing")
  expect_error(pins::pin_delete(board, "texts"), class = "pins_pin_missing")
})

test_that("a board can be deparsed", {
  need_server()
  board <- board_here()
  pins::pin_write(board, 1, "number", type = "rds")
  pins::write_board_manifest(board)
  expect_equal(pins::pin_list(board), "number")
  expect_true("/tempZone/home/rods/tests/pins/_pins.yaml" %in% ils("pins")$logical_path)
  expect_equal(deparse(pins::board_deparse(board)), "board_cenote(\"/tempZone/home/rods/tests/pins\", versioned = TRUE)")
})

# Methods that do not need pins.

test_that("the cache follows the store", {
  need_server()
  board <- list(logical_path = absolute("pins"), path = tempfile())
  imkdir("pins")
  expect_equal(pin_list.pins_board_cenote(board), character())
  expect_false(pin_exists.pins_board_cenote(board, "a"))
  dir.create(file.path(board$path, "a", "v1"), recursive = TRUE)
  writeLines("x", file.path(board$path, "a", "v1", "data.txt"))
  put_version(board, "a", "v1")
  expect_equal(pin_list.pins_board_cenote(board), "a")
  other <- list(logical_path = board$logical_path, path = tempfile())
  dir.create(file.path(other$path, "a", "gone"), recursive = TRUE)
  mirror_versions(other, "a")
  expect_equal(list.files(file.path(other$path, "a")), "v1")
  cached(other, "a", "v1", "data.txt")
  expect_equal(readLines(file.path(other$path, "a", "v1", "data.txt")), "x")
  pin_version_delete.pins_board_cenote(other, "a", "v1")
  expect_equal(nrow(ils("pins/a")), 0)
})

test_that("a pin's files stay in the cache", {
  need_server()
  board <- list(logical_path = absolute("pins"), path = tempfile())
  imkdir("pins/a/v1", create_parent_collections = TRUE)
  iput(file_with(as.raw(1)), "pins/out")
  dir.create(file.path(board$path, "a", "v1"), recursive = TRUE)
  expect_error(cached(board, "a", "v1", "../../out"), class = "cenote_invalid")
  expect_false(file.exists(file.path(board$path, "out")))
})

test_that("only versions removed from the store are removed from the cache", {
  skip_on_os("windows")
  need_server()
  board <- list(logical_path = absolute("pins"), path = tempfile())
  imkdir("pins/a/v1", create_parent_collections = TRUE)
  imkdir("pins/a/[2]")
  for (version in c("v1", "*", "2")) dir.create(file.path(board$path, "a", version), recursive = TRUE)
  writeLines("x", file.path(board$path, "a", "v1", "kept"))
  mirror_versions(board, "a")
  expect_setequal(list.files(file.path(board$path, "a")), c("v1", "[2]"))
  expect_true(file.exists(file.path(board$path, "a", "v1", "kept")))
  dir.create(file.path(board$path, "a", "2"))
  pin_version_delete.pins_board_cenote(board, "a", "[2]")
  expect_setequal(list.files(file.path(board$path, "a")), c("v1", "2"))
})
