library(testthat)
library(cenote)
test_check("cenote")
