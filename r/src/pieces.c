/* Pieces of a raw vector: their digests, and files of them.
 *
 * Invariant: a file has its name only when it is complete. Until then it has a unique name that is never read from. */

#include "cenote.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_BINARY
#define O_BINARY 0
#endif

enum { SHA256_BYTES = 32, CRC_BYTES = 8, SUFFIX_BYTES = 64 };

static void digest_piece(const unsigned char *bytes, size_t size, int is_crc, Rbyte *to) {
  if (is_crc) write_crc(crc64nvme(0, bytes, size), to);
  else EVP_Digest(bytes, size, to, NULL, EVP_sha256(), NULL);
}

/* The digest of each piece, by `algorithm`: "sha-256" or "crc64nvme". */
SEXP piece_digests(SEXP bytes, SEXP offsets, SEXP sizes, SEXP algorithm) {
  R_xlen_t n = XLENGTH(offsets);
  int is_crc = strcmp(CHAR(STRING_ELT(algorithm, 0)), "crc64nvme") == 0;
  SEXP digests = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    SEXP digest = Rf_allocVector(RAWSXP, is_crc ? CRC_BYTES : SHA256_BYTES);
    SET_VECTOR_ELT(digests, i, digest);
    digest_piece(RAW(bytes) + (size_t)REAL(offsets)[i], (size_t)REAL(sizes)[i], is_crc, RAW(digest));
  }
  UNPROTECT(1);
  return digests;
}

/* Creates a file with an unused name beside a file; the name is in `to`. Returns the descriptor, or -1. */
static int open_beside(const char *path, char *to, size_t room) {
  static unsigned count = 0;
  const char *slash = strrchr(path, '/');
  int dir = slash ? (int)(slash - path + 1) : 0;
  for (int tries = 0; tries < 1000; tries++) {
    snprintf(to, room, "%.*s.cenote-%ld-%u", dir, path, (long)getpid(), count++);
    int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_BINARY, 0666);
    if (file >= 0) return file;
  }
  return -1;
}

static int write_all(int file, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    ssize_t wrote = write(file, bytes, size);
    if (wrote <= 0) return 0;
    bytes += wrote;
    size -= (size_t)wrote;
  }
  return 1;
}

static int write_piece(const unsigned char *bytes, size_t size, const char *path) {
  size_t room = strlen(path) + SUFFIX_BYTES;
  char *beside = malloc(room);
  int file = beside ? open_beside(path, beside, room) : -1;
  int kept = 0;
  if (file >= 0) {
    int whole = write_all(file, bytes, size);
    kept = close(file) == 0 && whole && take_place(beside, path);
    if (!kept) unlink(beside);
  }
  free(beside);
  return kept;
}

/* Writes each piece to its file, replacing an existing one; returns for each whether it succeeded. */
SEXP write_pieces(SEXP bytes, SEXP offsets, SEXP sizes, SEXP paths) {
  R_xlen_t n = XLENGTH(offsets);
  SEXP written = PROTECT(Rf_allocVector(LGLSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    const unsigned char *piece = RAW(bytes) + (size_t)REAL(offsets)[i];
    LOGICAL(written)[i] = write_piece(piece, (size_t)REAL(sizes)[i], CHAR(STRING_ELT(paths, i)));
  }
  UNPROTECT(1);
  return written;
}

static const char *kind_of(const char *path) {
#ifdef _WIN32
  struct _stati64 found;
  if (_stati64(path, &found) != 0) return NULL;
#else
  struct stat found;
  if (stat(path, &found) != 0) return NULL;
#endif
  return S_ISREG(found.st_mode) ? "file" : S_ISDIR(found.st_mode) ? "directory" : "other";
}

/* The type at each path, following links: "file", "directory" or "other"; NA if missing. */
SEXP path_kinds(SEXP paths) {
  R_xlen_t n = XLENGTH(paths);
  SEXP kinds = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    const char *kind = kind_of(CHAR(STRING_ELT(paths, i)));
    SET_STRING_ELT(kinds, i, kind ? Rf_mkChar(kind) : NA_STRING);
  }
  UNPROTECT(1);
  return kinds;
}
