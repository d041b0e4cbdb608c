# Directories, against a model: store and disk have the expected files, whatever the sizes, and only differing files are
# transferred.

# Sizes on both sides of every limit: of files that share requests, of a batch, and of zero.
some_sizes <- function(n) {
  limits <- c(0, 1, 511, 512, 513, small_limit + -1:1)
  sample(c(limits, sample.int(5000, 20)), n, TRUE)
}

some_names <- function(n) {
  folders <- c("", "a/", "a/b/", "\u00e4 +%/", "~/", paste0(strrep("long", 40), "/"))
  letters <- c("f", "it's ", "\u4e2d", ".hidden", "x.part", "*", strrep("n", 200))
  paste0(sample(folders, n, TRUE), sample(letters, n, TRUE), seq_len(n))
}

write_tree <- function(dir, tree) {
  files <- file.path(dir, names(tree))
  for (folder in unique(dirname(files))) dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (i in seq_along(tree)) writeBin(tree[[i]], files[[i]])
}

read_tree <- function(dir) {
  files <- sort(list.files(dir, recursive = TRUE, all.files = TRUE), method = "radix")
  stats::setNames(lapply(file.path(dir, files), bytes_of), files)
}

sorted <- function(tree) tree[order(names(tree), method = "radix")]

# Some files with one byte changed, some with another size, some new ones.
edited <- function(tree) {
  which <- sample(length(tree), 6)
  for (i in which[1:3]) tree[[i]] <- if (length(tree[[i]])) c(xor(tree[[i]][[1]], as.raw(1)), tree[[i]][-1]) else as.raw(1)
  for (i in which[4:6]) tree[[i]] <- c(tree[[i]], as.raw(7))
  c(tree, stats::setNames(lapply(1:3, as.raw), paste0("new ", sample.int(1e6, 3))))
}

rounds <- as.integer(Sys.getenv("CENOTE_R_ROUNDS", "2"))

test_that("directories of any files round-trip completely, and then only changes are transferred", {
  skip_on_os("windows")
  need_server()
  for (round in seq_len(rounds)) {
    set.seed(round)
    here <- tempfile()
    there <- tempfile()
    tree <- lapply(some_sizes(40), random_bytes)
    names(tree) <- some_names(40)
    write_tree(here, tree)
    name <- paste0("d", round)
    put <- iput(here, name)
    expect_true(all(put$transferred))
    expect_identical(put$checksum, vapply(put$local_path, checksum_of, "", USE.NAMES = FALSE))
    got <- iget(name, there)
    expect_identical(read_tree(there), sorted(tree))
    expect_setequal(got$checksum, put$checksum)
    expect_false(any(iput(here, name, overwrite = "changed")$transferred))
    expect_false(any(iget(name, there, overwrite = "changed")$transferred))
    for (edit in 1:3) {
      before <- tree
      tree <- edited(tree)
      write_tree(here, tree)
      moved <- names(tree)[!mapply(identical, tree, before[names(tree)])]
      put <- iput(here, name, overwrite = "changed")
      expect_setequal(put$logical_path[put$transferred], paste0(absolute(name), "/", moved))
      expect_setequal(put$logical_path, paste0(absolute(name), "/", names(tree)))
      got <- iget(name, there, overwrite = "changed")
      expect_setequal(got$local_path[got$transferred], file.path(there, moved))
      expect_identical(read_tree(there), sorted(tree))
    }
    unlink(c(here, there), recursive = TRUE)
  }
})

test_that("an interrupted directory of small files continues where it stopped, in both directions", {
  skip_on_os("windows")
  need_server()
  here <- tempfile()
  tree <- stats::setNames(lapply(rep(1e5, 200), random_bytes), paste0("f", 1:200))
  write_tree(here, tree)
  through(breaking_proxy(up = 3.9e6, times = 1000)) # the last batch is smaller
  expect_error(iput(here, "d"), "of 200 failed", class = "cenote_unreachable")
  directly()
  put <- iput(here, "d", overwrite = "changed")
  expect_lt(sum(put$transferred), 200)
  expect_gt(sum(put$transferred), 0)
  there <- tempfile()
  through(breaking_proxy(down = 3.9e6, times = 1000))
  expect_error(iget("d", there), "failed", class = "cenote_unreachable")
  directly()
  got <- iget("d", there, overwrite = "changed")
  expect_gt(sum(got$transferred), 0)
  expect_identical(read_tree(there), sorted(tree))
})

test_that("one file is skipped, too, if it is the same", {
  need_server()
  file <- file_with(as.raw(1:9))
  expect_true(iput(file, "f", overwrite = "changed")$transferred)
  put <- iput(file, "f", overwrite = "changed")
  expect_false(put$transferred)
  expect_identical(put$checksum, checksum_of(file))
  back <- tempfile()
  expect_true(iget("f", back, overwrite = "changed")$transferred)
  got <- iget("f", back, overwrite = "changed")
  expect_false(got$transferred)
  expect_identical(got$checksum, put$checksum)
  writeBin(as.raw(9:1), back)
  expect_true(iget("f", back, overwrite = "changed")$transferred)
  expect_identical(bytes_of(back), as.raw(1:9))
  expect_true(iget("f", back, offset = 3, overwrite = "changed")$transferred)
  expect_identical(bytes_of(back), as.raw(4:9))
  expect_true(isaveRDS(1, "o", overwrite = "changed")$transferred)
  expect_false(isaveRDS(1, "o", overwrite = "changed")$transferred)
  expect_error(iput(file, "f", overwrite = "newer"), "\"changed\"", class = "cenote_invalid")
  large <- file_with(random_bytes(whole_limit + 1))
  expect_true(iput(large, "large")$transferred)
  expect_false(iput(large, "large", overwrite = "changed")$transferred)
})

test_that("files of a directory do not replace existing ones by default, and the others are put", {
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1), b = as.raw(2), c = random_bytes(small_limit + 1)))
  iput(file_with(as.raw(9)), "x")
  imkdir("d")
  iput(file_with(as.raw(9)), "d/b")
  expect_error(iput(here, "d"), "1 of 3 failed", class = "cenote_exists")
  expect_setequal(last_name(ils("d")$logical_path), c("a", "b", "c"))
  expect_identical(bytes_of(iget("d/b", tempfile())$local_path), as.raw(9))
  expect_error(iput(here, "x"), class = "cenote_error")
})

test_that("small files share requests", {
  need_server()
  here <- tempfile()
  write_tree(here, stats::setNames(lapply(1:600, function(i) as.raw(i %% 256)), paste0("f", 1:600)))
  requests <- function(what) {
    count <- function() {
      lines <- strsplit(rawToChar(curl::curl_fetch_memory(paste0(server, "/metrics"))$content), "\n")[[1]]
      sum(as.numeric(sub(".* ", "", grep("^cenote_http_requests_total", lines, value = TRUE))))
    }
    before <- count()
    force(what)
    count() - before
  }
  expect_lt(requests(iput(here, "d")), 10)
  expect_lt(requests(iget("d", tempfile())), 10)
})

test_that("entries that cannot be put are skipped and reported", {
  skip_on_os("windows")
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1), "sub/b" = as.raw(2)))
  file.symlink("nothing", file.path(here, "dangling"))
  file.symlink("..", file.path(here, "sub", "up"))
  file.symlink("a", file.path(here, "link"))
  file.symlink("sub", file.path(here, "linked"))
  system2("mkfifo", shQuote(file.path(here, "pipe")))
  for (round in 1:2) {
    warned <- NULL
    put <- withCallingHandlers(iput(here, "d", overwrite = "changed"), cenote_skipped = function(w) {
      warned <<- w
      invokeRestart("muffleWarning")
    })
    expect_setequal(put$logical_path, paste0(absolute("d"), "/", c("a", "link", "sub/b", "linked/b")))
    expect_setequal(warned$skipped, file.path(here, c("dangling", "pipe", "sub/up", "linked/up")))
    expect_match(conditionMessage(warned), "dangling (a broken link)", fixed = TRUE)
    expect_match(conditionMessage(warned), "pipe (neither a file nor a directory)", fixed = TRUE)
    expect_match(conditionMessage(warned), "up (a link to a directory that it is in)", fixed = TRUE)
  }
})

test_that("entries that cannot be downloaded are skipped and reported", {
  need_server()
  iput(file_with(as.raw(1)), "f")
  imkdir("d")
  iput(file_with(as.raw(1)), "d/f")
  native("POST", "create", body = list(path = inside(absolute("d/l")), kind = "link", target = "f"))
  native("POST", "create", body = list(path = inside(absolute("d/about")), kind = "description"))
  there <- tempfile()
  expect_warning(got <- iget("d", there), "l \\(link\\)", class = "cenote_skipped")
  expect_equal(got$logical_path, absolute("d/f"))
  expect_equal(list.files(there), "f")
})

test_that("an object that changes meanwhile is downloaded in its current state", {
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1), b = as.raw(2), c = as.raw(3)))
  iput(here, "d")
  told <- stored_below(absolute("d"), NULL)
  iput(file_with(as.raw(8:9)), "d/b", overwrite = TRUE)
  irm("d/c")
  there <- tempfile()
  dir.create(there)
  how <- list(overwrite = FALSE, changed = FALSE, offset = 0, resume = TRUE)
  expect_error(get_objects(told, file.path(there, last_name(told$path)), how, FALSE), class = "cenote_not_found")
  expect_identical(read_tree(there), list(a = as.raw(1), b = as.raw(8:9)))
})

test_that("corruption in transit is detected, and the object downloaded again", {
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1:9), b = as.raw(2)))
  iput(here, "d")
  told <- stored_below(absolute("d"), NULL)
  archive <- curl::curl_fetch_memory(paste0(host(), "/v1/archive"), archive_handle(told$id, list()))$content
  index <- .Call(tar_index, archive)
  archive[[index$offset[[1]] + 1]] <- as.raw(255)
  there <- tempfile()
  dir.create(there)
  expect_equal(unpack(archive, told, file.path(there, c("a", "b"))), c(FALSE, TRUE))
  expect_equal(list.files(there, all.files = TRUE, no.. = TRUE), "b")
  told$crc64nvme <- NA_character_
  expect_equal(unpack(archive, told, file.path(there, c("a", "b"))), c(FALSE, TRUE))
})

test_that("reads stay within the bytes of an archive, whatever they are", {
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1:9), b = random_bytes(2000), c = raw()))
  iput(here, "d")
  told <- stored_below(absolute("d"), NULL)
  archive <- curl::curl_fetch_memory(paste0(host(), "/v1/archive"), archive_handle(told$id, list()))$content
  whole <- .Call(tar_index, archive)
  expect_equal(whole$size, c(9, 2000, 0))
  for (length in c(0, 1, 511, 512, 513, seq(600, length(archive), 97))) {
    cut <- .Call(tar_index, utils::head(archive, length))
    expect_true(all(cut$offset + cut$size <= length))
    expect_equal(cut$id, utils::head(whole$id, length(cut$id)))
  }
  set.seed(1)
  within <- vapply(1:2000, function(round) {
    spoilt <- archive
    spoilt[sample(length(archive), 30)] <- random_bytes(30)
    index <- .Call(tar_index, spoilt)
    all(index$offset + index$size <= length(archive))
  }, logical(1))
  expect_true(all(within))
})

test_that("a file that shrinks is reported, and the others of its batch are put", {
  need_server()
  here <- tempfile()
  write_tree(here, list(a = as.raw(1), b = as.raw(2)))
  packed <- pack(file.path(here, c("a", "b")), c("a", "b"), c(1, 2))
  expect_equal(packed$cut, c(FALSE, TRUE))
  expect_identical(packed$digests[[1]], sha256(file.path(here, "a")))
})

test_that("batches are bounded and lose nothing", {
  set.seed(1)
  for (round in 1:20) {
    sizes <- sample(c(0, 1, 1000, small_limit), sample(0:1500, 1), TRUE)
    groups <- batches(sizes)
    expect_identical(as.integer(unlist(groups)), seq_along(sizes))
    expect_true(all(lengths(groups) <= batch_files))
    for (group in groups) expect_lte(sum(sizes[group]), batch_bytes)
  }
})

test_that("a directory without write permission is reported, and nothing is left", {
  skip_on_os("windows")
  there <- tempfile()
  dir.create(file.path(there, "taken"), recursive = TRUE)
  bytes <- as.raw(1:4)
  written <- .Call(write_pieces, bytes, c(0, 2), c(2, 2), c(file.path(there, "taken"), file.path(there, "none", "f")))
  expect_equal(written, c(FALSE, FALSE))
  expect_equal(list.files(there, all.files = TRUE, no.. = TRUE), "taken")
})
