test_that("the address is remembered for later sessions", {
  file <- create_irods("http://127.0.0.1:1/irods-http-api/0.2.0", overwrite = TRUE)
  expect_invisible(create_irods("http://127.0.0.1:1/irods-http-api/0.2.0", overwrite = TRUE))
  expect_equal(jsonlite::fromJSON(file)$host, "http://127.0.0.1:1/irods-http-api/0.2.0")
  rm(list = ls(state), envir = state)
  expect_equal(host(), "http://127.0.0.1:1")
  expect_error(create_irods(character()), class = "cenote_invalid")
})

test_that("without an address, or with an invalid one, a hint says what to do", {
  file <- create_irods("http://127.0.0.1:1", overwrite = TRUE)
  writeLines("{", file)
  expect_error(iauth("rods", "rods"), "create_irods", class = "cenote_invalid")
  unlink(file)
  expect_error(iauth("rods", "rods"), "create_irods", class = "cenote_invalid")
})

test_that("nothing can be done before a login", {
  create_irods("http://127.0.0.1:1", overwrite = TRUE)
  expect_false(is_connected_irods())
  expect_null(ipwd())
  for (call in list(quote(ils()), quote(icd("a")), quote(iget("a", "b")), quote(iquery("select DATA_NAME")))) {
    expect_error(eval(call), "iauth", class = "cenote_unauthenticated")
  }
})

test_that("a missing server is reported", {
  create_irods("http://127.0.0.1:1", overwrite = TRUE)
  expect_error(iauth("rods", "rods"), "check that the server is running", class = "cenote_unreachable")
})

test_that("only the right password logs in", {
  need_server()
  expect_true(is_connected_irods())
  before <- ipwd()
  expect_error(iauth("rods", "wrong"), "password is wrong", class = "cenote_unauthenticated")
  expect_error(iauth("nobody", "x"), class = "cenote_unauthenticated")
  expect_error(iauth("rods", "rods", c("rodsuser", "king")), class = "cenote_invalid")
  for (wrong in list("", NA, 3, c("a", "b"))) expect_error(iauth("rods", wrong), "`password`", class = "cenote_invalid")
  expect_error(iauth("", "rods"), class = "cenote_invalid")
  expect_equal(ipwd(), before)
  expect_invisible(expect_null(iauth("rods", "rods")))
})

test_that("the role determines the initial collection", {
  need_server()
  iauth("rods", "rods", "groupadmin")
  expect_equal(ipwd(), "/tempZone/home")
  iauth("rods", "rods", "rodsadmin")
  expect_equal(ipwd(), "/tempZone")
})

# Ends all logins of a user on the server.
end_logins <- function(user = "rods", password = "rods") {
  request <- function(method, query = "") {
    h <- curl::new_handle(customrequest = method, httpauth = 1L, userpwd = paste0(user, ":", password))
    answer <- curl::curl_fetch_memory(paste0(server, "/v1/tokens", query), h)
    if (answer$status_code >= 400) stop("tokens: ", rawToChar(answer$content))
    answer$content
  }
  for (id in jsonlite::parse_json(rawToChar(request("GET")), simplifyVector = TRUE)$items$id) {
    request("DELETE", paste0("?id=", id))
  }
}

test_that("a session whose token has expired logs in again, whatever it does", {
  need_server()
  file <- file_with(random_bytes(1000))
  large <- file_with(random_bytes(17 * 2^20))
  dir <- tempfile()
  dir.create(dir)
  for (i in 1:3) writeBin(random_bytes(3e5), file.path(dir, i))
  calls <- list(
    quote(ils()), quote(icd(".")), quote(imkdir("c")), quote(iput(file, "f")), quote(iget("f", tempfile())),
    quote(iput(large, "large")), quote(iget("large", tempfile())), quote(iput(dir, "d")), quote(iget("d", tempfile())),
    quote(iput(file, "f", offset = 10, truncate = FALSE, overwrite = TRUE)), quote(isaveRDS(1, "o")), quote(ireadRDS("o")),
    quote(imeta("f", operations = add("a", "b"))), quote(ils(stat = TRUE, metadata = TRUE)),
    quote(iquery("select DATA_NAME")), quote(irm("f")), quote(irm("d", recursive = TRUE)),
    quote(iadmin("late", "secret", "create_user")), quote(iadmin("late", action = "remove_user"))
  )
  for (call in calls) {
    end_logins()
    expect_error(eval(call), NA, info = deparse(call))
  }
  expect_equal(ipwd(), "/tempZone/home/rods/tests")
})

test_that("operations in progress when the token expires continue", {
  need_server()
  dir <- tempfile()
  dir.create(dir)
  for (i in 1:20) writeBin(random_bytes(3e5), file.path(dir, i))
  iput(dir, "d")
  answered <- integer()
  ended <- FALSE
  each_request(20, function(i) {
    if (i == 8 && !ended) end_logins()
    ended <<- ended || i == 8
    h <- get_handle(absolute(paste0("d/", i)), 0, list())
    list(handle = h, done = function(answer) {
      check_status(answer)
      answered <<- c(answered, length(answer$content))
    })
  })
  expect_equal(answered, rep(3e5, 20))
})

test_that("a session whose password is no longer valid is reported", {
  need_server()
  iadmin("changed", "secret", "create_user")
  at_end(function() {
    iauth("rods", "rods")
    iadmin("changed", action = "remove_user")
  }, environment())
  iauth("changed", "secret")
  state$login <- function() login("changed", "not any more")
  end_logins("changed", "secret")
  expect_error(ils(), "iauth", class = "cenote_unauthenticated")
  expect_error(iget("a", tempfile()), "iauth", class = "cenote_unauthenticated")
  expect_error(iput(file_with(raw(1)), "a"), "iauth", class = "cenote_unauthenticated")
})

test_that("a session continues after setting the password of its user", {
  need_server()
  iadmin("boss", "secret", "create_user", "rodsadmin")
  at_end(function() {
    iauth("rods", "rods")
    iadmin("boss", action = "remove_user")
  }, environment())
  iauth("boss", "secret")
  iadmin("boss", "other", "set_password")
  end_logins("boss", "other")
  expect_equal(nrow(ils()), 0)
})

test_that("a wrong ticket does not cause a login", {
  need_server()
  iput(file_with(raw(1)), "f")
  token <- state$token
  expect_error(iget("f", tempfile(), ticket = "none"), "ask its owner", class = "cenote_unauthenticated")
  expect_identical(state$token, token)
})

test_that("the password is not sent to other servers", {
  need_server()
  expect_false(is.null(state$login))
  create_irods("http://127.0.0.1:1", overwrite = TRUE)
  expect_null(state$login)
})

test_that("users with a non-empty home are not removed", {
  need_server()
  as_user("keeper")
  isaveRDS(1, "o")
  iauth("rods", "rods")
  expect_error(iadmin("keeper", action = "remove_user"), "/tempZone/home/keeper\n.*first", class = "cenote_not_empty")
})

test_that("users are created, given passwords and removed", {
  need_server()
  expect_invisible(iadmin("rtest", "secret", "create_user"))
  taken <- expect_error(iadmin("rtest", "secret", "create_user"), "another name", class = "cenote_exists")
  expect_no_match(conditionMessage(taken), "overwrite")
  iadmin("rtest", "other", "set_password")
  expect_error(iauth("rtest", "secret"), class = "cenote_unauthenticated")
  iauth("rtest", "other")
  expect_equal(ipwd(), "/tempZone/home/rtest")
  expect_error(iadmin("more", action = "create_user"), class = "cenote_denied")
  iauth("rods", "rods")
  iadmin("rtest", action = "remove_user")
  expect_error(iauth("rtest", "other"), class = "cenote_unauthenticated")
  expect_error(iadmin("nobody", action = "remove_user"), "USER_NAME", class = "cenote_not_found")
  expect_error(iadmin("rods", "", "set_password"), "`password` is empty", class = "cenote_invalid")
  for (wrong in list(1, "", NA, c("a", "b"))) expect_error(iadmin(wrong, "x"), "`name`", class = "cenote_invalid")
  for (wrong in list(1, NULL, NA)) expect_error(iadmin("x", wrong), "`password`", class = "cenote_invalid")
  expect_error(iadmin("x", action = "promote"))
  expect_error(iadmin("x", action = "create_user", role = "king"))
})
