# Tests that need a server run only if `CENOTE_TEST_URL` is the address of one, with the administrator rods/rods.
# The package keeps its state in a directory of the tests.
server <- Sys.getenv("CENOTE_TEST_URL")
Sys.setenv(R_USER_CONFIG_DIR = tempfile("config"), R_USER_CACHE_DIR = tempfile("cache"))

need_server <- function() {
  testthat::skip_if_not(nzchar(server), "CENOTE_TEST_URL is not set")
  create_irods(server, overwrite = TRUE)
  iauth("rods", "rods")
  if ("/tempZone/home/rods/tests" %in% ils()$logical_path) irm("tests", recursive = TRUE)
  imkdir("tests")
  icd("tests")
}
