/* A whole file in the place of another, in one step.
 *
 * The two change their names, and then the one that was there goes. To rename over a file would make ext4 write all of the new
 * one out first (`auto_da_alloc`), which for 7 MB takes longer than to get them. Nothing is promised of a power cut. */

#define _GNU_SOURCE
#include "cenote.h"

#include <fcntl.h>
#include <unistd.h>

/* FALSE where that cannot be, or nothing is there: to be renamed. */
SEXP replace_file(SEXP part, SEXP file) {
#ifdef RENAME_EXCHANGE
  const char *from = CHAR(STRING_ELT(part, 0)), *to = CHAR(STRING_ELT(file, 0));
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
    if (unlink(from) == 0) return Rf_ScalarLogical(1);
    renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE); /* a directory: it stays */
  }
#endif
  return Rf_ScalarLogical(0);
}
