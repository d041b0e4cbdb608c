# Invariant: text sent to the server is UTF-8, and a local path is one that R can open in its locale. A name received from
# the server denotes one file or directory below the target directory.

# The collection that a logical path is in, and the name it has there.
above <- function(path) sub("/[^/]*$", "", path)

last_name <- function(path) sub("^.*/", "", sub("/+$", "", path))

# Text in UTF-8. In the locale C, in which batch jobs often run, R knows only ASCII characters: there the bytes of a name
# are treated as UTF-8, as in any other current locale.
utf8 <- function(text) {
  if (locale_is_c()) text <- marked(text, ifelse(Encoding(text) == "unknown", "UTF-8", Encoding(text)))
  wrong <- text[!validEnc(text)]
  if (length(wrong)) {
    stop_cenote("invalid", paste0("not valid in its encoding: ", encodeString(wrong[[1]])), "see `Encoding()`, or rename the file")
  }
  enc2utf8(text)
}

# A local path, as R can use it to open a file.
local_name <- function(path) {
  if (!locale_is_c()) return(path)
  marked(utf8(path), "unknown")
}

# The server's names for paths below a directory.
check_below <- function(paths) {
  names <- unlist(strsplit(paste0(paths, "/", recycle0 = TRUE), "/", fixed = TRUE))
  wrong <- names[names %in% c("", ".", "..") | (.Platform$OS.type == "windows" & grepl("[\\\\:]", names))]
  if (!length(wrong)) return(invisible())
  stop_cenote("invalid", paste0("this name leads out of the directory: ", encodeString(wrong[[1]], quote = "\"")),
    "get what is meant by itself, under another name"
  )
}

# A name as a path in the working directory. R would expand one that begins with `~`.
here <- function(name) {
  check_below(name)
  if (startsWith(name, "~")) file.path(".", name, fsep = "/") else name
}

# Removes files, or directories with `recursive`. `*`, `?` and `[` in names are taken literally.
remove_files <- function(files, recursive = FALSE) {
  unlink(path.expand(files), recursive = recursive, force = recursive, expand = FALSE)
}

create_file <- function(file) {
  if (suppressWarnings(file.create(file))) return(invisible())
  stop_cenote("invalid", paste0("the file cannot be created: ", file), "check the local path and its permissions")
}

marked <- function(text, encoding) {
  if (length(text)) Encoding(text) <- encoding
  text
}

locale_is_c <- function() Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")
