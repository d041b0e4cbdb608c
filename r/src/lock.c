/* A lock file for the part of a download, held by the call that writes to it.
 *
 * Invariant: a file that was renamed or removed is no longer a lock, so a lock is valid only if the path still refers
 * to the locked file. The kernel releases the lock of a process that ends. On systems without such locks, nothing is
 * locked. */

#include "cenote.h"

#include <stdlib.h>

#ifdef _WIN32
SEXP lock_take(SEXP path) { return R_MakeExternalPtr(NULL, R_NilValue, R_NilValue); }
SEXP lock_release(SEXP pointer) { return R_NilValue; }
#else
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  int descriptor; /* -1: nothing is held */
  char path[];
} Lock;

/* Whether the path refers to the open file; also its size. */
static int still_there(Lock *lock, off_t *size) {
  struct stat open, named;
  if (fstat(lock->descriptor, &open) != 0 || stat(lock->path, &named) != 0) return 0;
  *size = open.st_size;
  return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

static void let_go(Lock *lock) {
  if (lock->descriptor < 0) return;
  flock(lock->descriptor, LOCK_UN); /* a process that is forked off has the descriptor, too */
  close(lock->descriptor);
  lock->descriptor = -1;
}

/* Returns whether another process holds it. */
static int is_taken(Lock *lock) {
  off_t size;
  do {
    let_go(lock);
    lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->descriptor < 0) return 0; /* who writes there will say why */
    if (flock(lock->descriptor, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  } while (!still_there(lock, &size));
  return 0;
}

/* It is removed with its holder, unless it is not empty: then it is not ours. */
static void finalize(SEXP pointer) {
  Lock *lock = R_ExternalPtrAddr(pointer);
  off_t size;
  R_ClearExternalPtr(pointer);
  if (!lock) return;
  if (lock->descriptor >= 0 && still_there(lock, &size) && size == 0) unlink(lock->path);
  let_go(lock);
  free(lock);
}

/* NULL if another process holds it. The file is created if it is missing. */
SEXP lock_take(SEXP path) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  const char *name = CHAR(STRING_ELT(path, 0));
  Lock *lock = malloc(sizeof *lock + strlen(name) + 1);
  if (!lock) Rf_error("out of memory");
  lock->descriptor = -1;
  strcpy(lock->path, name);
  int taken = is_taken(lock);
  if (taken) {
    close(lock->descriptor);
    free(lock);
  } else {
    R_SetExternalPtrAddr(pointer, lock);
  }
  UNPROTECT(1);
  return taken ? R_NilValue : pointer;
}

SEXP lock_release(SEXP pointer) {
  finalize(pointer);
  return R_NilValue;
}
#endif
