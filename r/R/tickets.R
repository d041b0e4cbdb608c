#' Create, list and delete tickets
#'
#' A ticket gives its bearer access to a data object, or to a collection with its contents, when passed as the `ticket` of [iget()],
#' [iput()], [ils()], [isaveRDS()] or [ireadRDS()].
#'
#' @param logical_path The data object or collection that the ticket gives access to. With `action = "ls"`, only its tickets are listed; without it, all your tickets.
#' @param action `"create"`, `"ls"` or `"delete"`.
#' @param type Whether it allows only reading, or also writing.
#' @param ticket The ticket to delete, or its `id` in the list.
#' @param uses How many times it can be used; 0 means without limit.
#' @param write_files,write_bytes How many files and collections, and how many bytes, can be written with it; 0 means without limit.
#' @param expires_in After how many seconds it expires; if not given, it does not expire.
#' @param users,groups The users and groups that can use it; everyone, if none are given.
#' @param hosts The hosts from which it can be used; any host, if none are given.
#' @return `"create"` returns the ticket; `"ls"` a data frame with a row for each ticket, identified by an `id` that cannot be used as a
#'   ticket: the ticket itself is shown only when it is created; `"delete"` returns the ticket, invisibly.
#' @examplesIf is_connected_irods()
#' isaveRDS(mtcars, "cars.rds")
#' ticket <- iticket("cars.rds", uses = 10, expires_in = 3600)
#' head(ireadRDS("cars.rds", ticket = ticket))
#' iticket("cars.rds", "ls")[c("logical_path", "type", "uses", "uses_limit")]
#' iticket(action = "delete", ticket = ticket)
#' irm("cars.rds")
#' @export
iticket <- function(logical_path = NULL, action = c("create", "ls", "delete"), type = c("read", "write"), ticket = NULL, uses = 0,
                    write_files = 0, write_bytes = 0, expires_in = NULL, users = character(), groups = character(),
                    hosts = character()) {
  action <- match.arg(action)
  type <- match.arg(type)
  if (action != "delete" && !is.null(ticket)) stop_cenote("invalid", "`ticket` must be a ticket to delete", "use `action = \"delete\"`")
  if (action == "ls") return(tickets_of(if (!is.null(logical_path)) absolute(logical_path)))
  if (action == "delete") return(delete_ticket(ticket))
  for (limit in list(uses, write_files, write_bytes, expires_in %or% 1)) check_count(limit, "a limit of a ticket")
  limits <- list(uses = uses, writes = write_files, bytes = write_bytes, expires_in = expires_in)
  native("POST", "tickets", body = c(
    list(path = inside(absolute(logical_path)), level = type), Filter(Negate(is.null), limits),
    list(persons = I(as.character(c(users, groups))), hosts = I(as.character(hosts)))
  ))$ticket
}

delete_ticket <- function(ticket) {
  if (!is_text(ticket)) stop_cenote("invalid", "`ticket` must be one ticket")
  irods("POST", "tickets", op = "remove", name = ticket)
  invisible(ticket)
}

tickets_of <- function(path) {
  found <- native("GET", "tickets", path = if (!is.null(path)) inside(path))$items
  n <- NROW(found)
  column <- function(name, missing) {
    values <- if (is.null(found[[name]])) rep(missing, n) else found[[name]]
    if (is.list(values)) values else `storage.mode<-`(values, storage.mode(missing))
  }
  joined <- function(name) vapply(as.list(column(name, "")), toString, character(1))
  data.frame(
    id = column("id", ""), logical_path = if (n) paths_of(found$resource) else character(),
    type = ifelse(column("level", "") == "modify_object", "write", "read"), issuer = column("issuer", ""),
    expires = as.POSIXct(column("expires", NA_character_), format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC"),
    uses = column("uses.used", 0), uses_limit = column("uses.limit", NA_real_), write_files = column("writes.used", 0),
    write_files_limit = column("writes.limit", NA_real_), write_bytes = column("bytes.used", 0),
    write_bytes_limit = column("bytes.limit", NA_real_), users = joined("persons"), hosts = joined("hosts"),
    stringsAsFactors = FALSE
  )
}

# The logical paths of resources, by id; missing if a resource no longer exists.
paths_of <- function(ids) {
  items <- native("POST", "stat", body = list(items = lapply(ids, function(id) list(id = id))))$items
  paths <- if (is.null(items$resource.path)) rep(NA_character_, length(ids)) else items$resource.path
  ifelse(is.na(paths), NA_character_, outside(paths))
}
