/* A whole file in the place of another, in one step.
 *
 * The two change their names, and then the one that was there goes. To rename over a file would make ext4 write all of the new
 * one out first (`auto_da_alloc`), which for 7 MB takes longer than to get them. Nothing is promised of a power cut. */

#define _GNU_SOURCE
#include "cenote.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#endif

/* Says whether they could change their names: not where nothing is there. */
static int exchange(const char *from, const char *to) {
#ifdef RENAME_EXCHANGE
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) != 0) return 0;
  if (unlink(from) == 0) return 1;
  renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE); /* a directory: it stays */
#endif
  return 0;
}

int take_place(const char *from, const char *to) {
#ifdef _WIN32
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING);
#else
  return exchange(from, to) || rename(from, to) == 0;
#endif
}

/* FALSE where that cannot be, or nothing is there: to be renamed. */
SEXP replace_file(SEXP part, SEXP file) {
  return Rf_ScalarLogical(exchange(CHAR(STRING_ELT(part, 0)), CHAR(STRING_ELT(file, 0))));
}
