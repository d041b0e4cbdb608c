test_that("the address is remembered for later sessions", {
  file <- create_irods("http://127.0.0.1:1/irods-http-api/0.2.0", overwrite = TRUE)
  expect_invisible(create_irods("http://127.0.0.1:1/irods-http-api/0.2.0", overwrite = TRUE))
  expect_equal(jsonlite::fromJSON(file)$host, "http://127.0.0.1:1/irods-http-api/0.2.0")
  rm(list = ls(state), envir = state)
  expect_equal(host(), "http://127.0.0.1:1")
  expect_error(create_irods(character()), class = "cenote_invalid")
})

test_that("without an address, or with a spoilt one, a hint says what to do", {
  file <- create_irods("http://127.0.0.1:1", overwrite = TRUE)
  writeLines("{", file)
  expect_error(iauth("rods", "rods"), "create_irods", class = "cenote_invalid")
  unlink(file)
  expect_error(iauth("rods", "rods"), "create_irods", class = "cenote_invalid")
})

test_that("nothing is done before somebody is logged in", {
  create_irods("http://127.0.0.1:1", overwrite = TRUE)
  expect_false(is_connected_irods())
  expect_null(ipwd())
  for (call in list(quote(ils()), quote(icd("a")), quote(iget("a", "b")), quote(iquery("select DATA_NAME")))) {
    expect_error(eval(call), "iauth", class = "cenote_unauthenticated")
  }
})

test_that("a server that is not there is told", {
  create_irods("http://127.0.0.1:1", overwrite = TRUE)
  expect_error(iauth("rods", "rods"), "is the server running", class = "cenote_unreachable")
})

test_that("only who knows the password gets in", {
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

test_that("the role says where one begins", {
  need_server()
  iauth("rods", "rods", "groupadmin")
  expect_equal(ipwd(), "/tempZone/home")
  iauth("rods", "rods", "rodsadmin")
  expect_equal(ipwd(), "/tempZone")
})

test_that("an expired token is told", {
  need_server()
  state$token <- "none"
  expect_error(ils(), "iauth", class = "cenote_unauthenticated")
  expect_error(iget("a", tempfile()), "iauth", class = "cenote_unauthenticated")
})

test_that("who still has something at home is not removed", {
  need_server()
  as_user("keeper")
  isaveRDS(1, "o")
  iauth("rods", "rods")
  expect_error(iadmin("keeper", action = "remove_user"), "/tempZone/home/keeper\n.*first", class = "cenote_not_empty")
})

test_that("users are made, given passwords and removed", {
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
