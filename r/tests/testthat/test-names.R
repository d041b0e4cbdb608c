# Names that are special to some functions of R, or that lead out of a directory.
strange <- c("*", "a?", "[1]", "data[1].csv", "~x", "~root", "{a,b}", "\\*")

test_that("a name is one name, whatever its characters", {
  skip_on_os("windows")
  need_server()
  in_new_directory()
  bystanders <- c("mine", "ab", "1", "data1.csv", "a", "b", "1.part", "ab.part", "mine.part")
  for (file in bystanders) writeLines(file, file)
  for (name in strange) {
    iput(file_with(charToRaw(name)), name)
    iget(name)
    iget(name, overwrite = TRUE)
    iget(name, overwrite = TRUE, resume = FALSE)
    expect_identical(bytes_of(paste0("./", name)), charToRaw(name))
    expect_error(iget(paste0(name, "none")), class = "cenote_not_found")
    expect_error(iget(name), class = "cenote_exists")
    writeBin(raw(3), paste0("./", name, ".part")) # belongs to nothing
    iget(name, overwrite = TRUE)
    expect_identical(bytes_of(paste0("./", name)), charToRaw(name))
  }
  expect_setequal(list.files(".", all.files = TRUE, no.. = TRUE), c(bystanders, strange))
})

test_that("a collection may contain any names", {
  skip_on_os("windows")
  need_server()
  in_new_directory()
  for (dir in c("~x", "[1]")) {
    dir.create(dir)
    for (name in strange) writeLines(name, file.path(".", dir, name))
    put <- iput(paste0("./", dir), dir)
    expect_setequal(last_name(put$logical_path), strange)
    unlink(paste0("./", dir), recursive = TRUE, expand = FALSE)
    dir.create("1", showWarnings = FALSE)
    writeLines("x", "1/mine")
    iget(dir)
    iget(dir, overwrite = TRUE)
    expect_setequal(list.files(paste0("./", dir), all.files = TRUE, no.. = TRUE), strange)
    expect_true(file.exists("1/mine"))
  }
})

test_that("a given path may start with the home", {
  need_server()
  in_new_directory()
  home <- Sys.getenv("HOME")
  at_end(function() Sys.setenv(HOME = home), environment())
  Sys.setenv(HOME = getwd())
  skip_if_not(path.expand("~") == getwd(), "this R asks the system for the home")
  iput(file_with(as.raw(1)), "f")
  iget("f", "~/g")
  iget("f", "~/g", overwrite = TRUE, resume = FALSE)
  expect_equal(list.files("."), "g")
})

test_that("no name leads out of the directory", {
  for (path in c("..", ".", "", "a/../b", "../a", "a//b", "a/", "/a", "a/..")) {
    expect_error(check_below(c("good", path)), "leads out of the directory", class = "cenote_invalid")
  }
  expect_silent(check_below(c("a/b/...", ".a", "a..", "*")))
  expect_silent(check_below(character()))
})

test_that("a server's list does not lead out of the directory", {
  need_server()
  there <- absolute("d")
  in_new_directory()
  for (name in c("../out", "..", "x/../../out", "/out")) {
    entry <- sprintf('{"path":"%s/%s","kind":"object","size":1}', inside(there), name)
    state$host <- answering(200, entry)
    expect_error(get_tree(there, "d", list(offset = 0, overwrite = TRUE, resume = TRUE), FALSE), class = "cenote_invalid")
    state$host <- answering(200, sub(inside(there), "/elsewhere", entry, fixed = TRUE))
    expect_error(get_tree(there, "d", list(offset = 0, overwrite = TRUE, resume = TRUE), FALSE), class = "cenote_invalid")
  }
  expect_length(list.files("."), 0)
})

test_that("objects named like parts are transferred along with those whose parts they might be", {
  need_server()
  in_new_directory()
  dir.create("d")
  for (name in c("x", "x.part", "x.part.part")) writeLines(name, file.path("d", name))
  iput("d", "d")
  for (i in 1:5) {
    iget("d", "back", overwrite = TRUE)
    for (name in list.files("d")) expect_equal(readLines(file.path("back", name)), name)
    expect_setequal(list.files("back"), list.files("d"))
  }
})
