# The contents of a local directory.

# The files and directories below a directory, by relative name, and the entries that are skipped, with the reason. Links are
# followed, except broken links and links to a directory that contains them.
walk_local <- function(dir) {
  level <- list(list(name = "", above = character()))
  read <- list()
  while (length(level)) {
    now <- lapply(level, function(folder) read_folder(dir, folder))
    read <- c(read, now)
    level <- unlist(lapply(now, function(above) {
      lapply(above$folders, function(name) list(name = name, above = above$real))
    }), recursive = FALSE)
  }
  parts <- c("files", "folders", "left_out", "why")
  found <- lapply(parts, function(part) as.character(unlist(lapply(read, `[[`, part))))
  stats::setNames(found, parts)
}

read_folder <- function(dir, folder) {
  path <- if (nzchar(folder$name)) file.path(dir, folder$name) else dir
  real <- c(folder$above, normalizePath(path, mustWork = FALSE))
  entries <- list.files(path, all.files = TRUE, no.. = TRUE)
  utf8(entries) # one that is no text is refused
  names <- if (nzchar(folder$name)) paste0(folder$name, "/", entries, recycle0 = TRUE) else entries
  kinds <- .Call(path_kinds, native_path(file.path(dir, names)))
  links <- nzchar(Sys.readlink(file.path(path, entries)))
  around <- links & kinds %in% "directory"
  around[around] <- normalizePath(file.path(path, entries[around])) %in% real
  why <- ifelse(is.na(kinds), ifelse(links, "a broken link", "removed meanwhile"),
    ifelse(kinds == "other", "neither a file nor a directory", ifelse(around, "a link to a directory that it is in", NA))
  )
  list(
    files = names[kinds %in% "file"], folders = names[kinds %in% "directory" & !around], left_out = names[!is.na(why)],
    why = why[!is.na(why)], real = real
  )
}

# A warning of class `cenote_skipped`, whose `skipped` are the paths.
warn_left_out <- function(paths, why) {
  if (!length(paths)) return(invisible())
  shown <- utils::head(paste0(paths, " (", why, ")"), 5)
  more <- if (length(paths) > 5) paste0(" and ", length(paths) - 5, " more")
  warning(structure(class = c("cenote_skipped", "warning", "condition"), list(
    message = paste0("skipped: ", paste(shown, collapse = ", "), more), call = NULL, skipped = paths
  )))
}
