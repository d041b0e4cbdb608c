/* Replaces a file by a complete one, in one step.
 *
 * The two exchange their names, and then the old one is removed. Renaming over a file would make ext4 write out the
 * new one first (`auto_da_alloc`), which for 7 MB takes longer than downloading it. Durability after a power cut is not
 * guaranteed. */

#define _GNU_SOURCE
#include "cenote.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#endif

/* Exchanges their names; returns whether that was possible: not if the target is missing. */
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

/* FALSE if that is impossible, or the target is missing: then the file has to be renamed. */
SEXP replace_file(SEXP part, SEXP file) {
  return Rf_ScalarLogical(exchange(CHAR(STRING_ELT(part, 0)), CHAR(STRING_ELT(file, 0))));
}
