# Invariant: text that goes to the server is UTF-8, and a local path is what R can open in its locale. A name that comes from
# the server is one file, or one directory, below the directory that it is for.

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

# Paths below a directory, as the server names them.
check_below <- function(paths) {
  names <- unlist(strsplit(paste0(paths, "/", recycle0 = TRUE), "/", fixed = TRUE))
  wrong <- names[names %in% c("", ".", "..") | (.Platform$OS.type == "windows" & grepl("[\\\\:]", names))]
  if (!length(wrong)) return(invisible())
  stop_cenote("invalid", paste0("below a directory this name leads elsewhere: ", encodeString(wrong[[1]], quote = "\"")),
    "get what is meant by itself, under another name"
  )
}

# A name as a path in the working directory. One that begins with `~` would be a home to R.
here <- function(name) {
  check_below(name)
  if (startsWith(name, "~")) file.path(".", name, fsep = "/") else name
}

# Removes files, or directories with `recursive`. A name with `*`, `?` or `[` is itself, and no pattern.
remove_files <- function(files, recursive = FALSE) {
  unlink(path.expand(files), recursive = recursive, force = recursive, expand = FALSE)
}

create_file <- function(file) {
  if (suppressWarnings(file.create(file))) return(invisible())
  stop_cenote("invalid", paste0("the file cannot be made: ", file), "check the local path, and whether you may write there")
}

marked <- function(text, encoding) {
  if (length(text)) Encoding(text) <- encoding
  text
}

locale_is_c <- function() Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")
