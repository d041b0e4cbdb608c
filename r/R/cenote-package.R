#' @keywords internal
#' @useDynLib cenote, .registration = TRUE
"_PACKAGE"
