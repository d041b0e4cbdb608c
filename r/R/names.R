# Invariant: text that goes to the server is UTF-8, and a local path is what R can open in its locale.

# The collection that a logical path is in, and the name it has there.
above <- function(path) sub("/[^/]*$", "", path)

last_name <- function(path) sub("^.*/", "", sub("/+$", "", path))

# Text in UTF-8. In the locale C, in which batch jobs often run, R knows no letters but those of ASCII: there the bytes of a name
# are taken for UTF-8, as they are in any other locale of today.
utf8 <- function(text) {
  if (locale_is_c()) text <- marked(text, ifelse(Encoding(text) == "unknown", "UTF-8", Encoding(text)))
  wrong <- text[!validEnc(text)]
  if (length(wrong)) {
    stop_cenote("invalid", paste0("not text in its encoding: ", encodeString(wrong[[1]])), "see `Encoding()`, or rename the file")
  }
  enc2utf8(text)
}

# A local path, as R can use it to open a file.
local_name <- function(path) {
  if (!locale_is_c()) return(path)
  marked(utf8(path), "unknown")
}

marked <- function(text, encoding) {
  if (length(text)) Encoding(text) <- encoding
  text
}

locale_is_c <- function() Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")
