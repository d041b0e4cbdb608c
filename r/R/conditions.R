# Errors of class `cenote_error`, with a hint of what to do next. Subclasses tell what went wrong:
# `cenote_not_found`, `cenote_denied`, `cenote_exists`, `cenote_unauthenticated`, `cenote_mismatch`,
# `cenote_invalid`, `cenote_unreachable`.

stop_cenote <- function(kind, message, hint = NULL, call = NULL) {
  text <- if (is.null(hint)) message else paste0(message, "\n  hint: ", hint)
  classes <- c(paste0("cenote_", gsub("-", "_", kind)), "cenote_error", "error", "condition")
  stop(structure(class = classes, list(message = text, hint = hint, call = call)))
}
