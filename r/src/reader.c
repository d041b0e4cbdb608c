/* Part of a file, a piece at a time, for curl to send.
 *
 * Invariant: pieces of one size are the same R vector, refilled. curl copies a piece before it requests the next,
 * so a file of any size is sent with the memory of one piece. */

#include "cenote.h"

#include <stdlib.h>

typedef struct {
  FILE *file;
  double left;
} Reader;

FILE *open_at(const char *path, double offset) {
  FILE *file = fopen(path, "rb");
#ifdef _WIN32
  if (file && _fseeki64(file, (long long)offset, SEEK_SET) == 0) return file;
#else
  if (file && fseeko(file, (off_t)offset, SEEK_SET) == 0) return file;
#endif
  if (file) fclose(file);
  return NULL;
}

static void finalize(SEXP pointer) {
  Reader *reader = R_ExternalPtrAddr(pointer);
  if (!reader) return;
  fclose(reader->file);
  free(reader);
  R_ClearExternalPtr(pointer);
}

SEXP reader_open(SEXP path, SEXP offset, SEXP length) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  FILE *file = open_at(CHAR(STRING_ELT(path, 0)), Rf_asReal(offset));
  Reader *reader = file ? malloc(sizeof *reader) : NULL;
  if (!reader) {
    if (file) fclose(file);
    Rf_error("cannot read %s", CHAR(STRING_ELT(path, 0)));
  }
  setvbuf(file, NULL, _IONBF, 0);
  *reader = (Reader){file, Rf_asReal(length)};
  R_SetExternalPtrAddr(pointer, reader);
  UNPROTECT(1);
  return pointer;
}

/* The vector of the last piece if it has this size, else a new one. */
static SEXP piece_of(SEXP pointer, R_xlen_t size) {
  SEXP piece = R_ExternalPtrProtected(pointer);
  if (piece != R_NilValue && XLENGTH(piece) == size) return piece;
  piece = PROTECT(Rf_allocVector(RAWSXP, size));
  R_SetExternalPtrProtected(pointer, piece);
  UNPROTECT(1);
  return piece;
}

/* At most `most` bytes; none at the end, when the file is closed. */
SEXP reader_next(SEXP pointer, SEXP most) {
  Reader *reader = R_ExternalPtrAddr(pointer);
  if (!reader) return Rf_allocVector(RAWSXP, 0);
  double size = Rf_asReal(most) < reader->left ? Rf_asReal(most) : reader->left;
  SEXP piece = PROTECT(piece_of(pointer, (R_xlen_t)size));
  size_t got = fread(RAW(piece), 1, (size_t)size, reader->file);
  if (got < (size_t)size) Rf_error("the file has become shorter while it was sent");
  reader->left -= got;
  if (reader->left == 0) finalize(pointer);
  UNPROTECT(1);
  return piece;
}
