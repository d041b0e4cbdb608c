/* The SHA-256 or the CRC-64/NVME of a file, or of a part of it, computed in a thread of its own beside the transfer of the same bytes.
 *
 * Invariant: the thread never calls R. R and the thread share `length` and `stop` alone, under the lock.
 *
 * A file that grows is one that we write: it is mapped, which costs half of what copying it does. Other files are read,
 * since to look at a map of a file that somebody cuts off ends the process. */

#include "cenote.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef _WIN32
#include <sys/mman.h>
#include <sys/stat.h>
#endif
#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

enum { CHUNK = 64 * 1024, WINDOW = 1024 * 1024, SHA256_BYTES = 32, CRC_BYTES = 8 };

typedef struct {
  char *path;
  double offset;
  FILE *file; /* NULL: it is not there yet */
  EVP_MD_CTX *sha256; /* NULL: the CRC is wanted */
  uint64_t crc;
  pthread_t thread;
  pthread_mutex_t lock;
  double length; /* negative: not known yet, the file still grows */
  int stop;
  double done;
} Digest;

static double wanted(Digest *digest) {
  pthread_mutex_lock(&digest->lock);
  double length = digest->stop ? 0 : digest->length;
  pthread_mutex_unlock(&digest->lock);
  return length;
}

static void settle(Digest *digest, double length, int stop) {
  pthread_mutex_lock(&digest->lock);
  digest->length = length;
  digest->stop = stop;
  pthread_mutex_unlock(&digest->lock);
}

static void pause_a_little(void) {
  struct timespec pause = {0, 200000};
  nanosleep(&pause, NULL);
}

/* Waits for the file to appear, as long as its end is not known. */
static void await_file(Digest *digest) {
  while (!digest->file && wanted(digest) != 0) {
    int last = wanted(digest) > 0;
    digest->file = open_at(digest->path, digest->offset);
    if (digest->file || last) return;
    pause_a_little();
  }
}

static size_t at_most(double left, size_t most) { return left < most ? (size_t)left : most; }

static void take(Digest *digest, const unsigned char *bytes, size_t size) {
  if (digest->sha256) EVP_DigestUpdate(digest->sha256, bytes, size);
  else digest->crc = crc64nvme(digest->crc, bytes, size);
  digest->done += size;
}

/* Takes the next bytes by reading them; says how many. */
static size_t take_read(Digest *digest, double length) {
  unsigned char chunk[CHUNK];
  size_t got = fread(chunk, 1, length < 0 ? CHUNK : at_most(length - digest->done, CHUNK), digest->file);
  clearerr(digest->file); /* the end of a file that grows is not for ever */
  take(digest, chunk, got);
  return got;
}

#ifdef _WIN32
#define take_mapped take_read
#else
/* The same by a map, which begins at a multiple of a window; of a file that still grows, whole windows only. */
static size_t take_mapped(Digest *digest, double length) {
  struct stat now;
  if (fstat(fileno(digest->file), &now) != 0) return 0;
  size_t there = at_most((double)now.st_size - digest->done, WINDOW);
  size_t size = length < 0 ? there : at_most(length - digest->done, there);
  if (size == 0 || (length < 0 && size < WINDOW)) return 0;
  void *map = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fileno(digest->file), (off_t)digest->done);
  if (map == MAP_FAILED) return 0;
  take(digest, map, size);
  munmap(map, size);
  return size;
}
#endif

static void *run(void *argument) {
  Digest *digest = argument;
  int grows = digest->length < 0;
  await_file(digest);
  double length = wanted(digest);
  while (digest->file && (length < 0 || digest->done < length)) {
    size_t got = grows ? take_mapped(digest, length) : take_read(digest, length);
    if (got == 0 && length >= 0) break; /* shorter than was said */
    if (got == 0) pause_a_little();
    length = wanted(digest);
  }
  return NULL;
}

static void discard(Digest *digest) {
  free(digest->path);
  if (digest->file) fclose(digest->file);
  EVP_MD_CTX_free(digest->sha256);
  pthread_mutex_destroy(&digest->lock);
  free(digest);
}

static void finish(Digest *digest, double length, int stop) {
  settle(digest, length, stop);
  pthread_join(digest->thread, NULL);
}

static void finalize(SEXP pointer) {
  Digest *digest = R_ExternalPtrAddr(pointer);
  if (!digest) return;
  finish(digest, 0, 1);
  discard(digest);
  R_ClearExternalPtr(pointer);
}

static int start(Digest *digest) {
  return (digest->file || digest->length < 0) && digest->path && pthread_create(&digest->thread, NULL, run, digest) == 0;
}

/* By `algorithm`, in the words of RFC 9530; says whether that could be. */
static int prepare(Digest *digest, const char *algorithm) {
  if (strcmp(algorithm, "crc64nvme") == 0) return 1;
  digest->sha256 = EVP_MD_CTX_new();
  return digest->sha256 && EVP_DigestInit_ex(digest->sha256, EVP_sha256(), NULL);
}

/* Begins with the bytes from `offset` on. Where `length` is NA, the end is not known yet, and the file need not be there. */
SEXP digest_begin(SEXP path, SEXP offset, SEXP length, SEXP algorithm) {
  Digest *digest = calloc(1, sizeof *digest);
  if (!digest) Rf_error("out of memory");
  pthread_mutex_init(&digest->lock, NULL);
  digest->path = strdup(CHAR(STRING_ELT(path, 0)));
  digest->offset = Rf_asReal(offset);
  digest->file = open_at(CHAR(STRING_ELT(path, 0)), digest->offset);
  digest->length = ISNAN(Rf_asReal(length)) ? -1 : Rf_asReal(length);
  if (!prepare(digest, CHAR(STRING_ELT(algorithm, 0))) || !start(digest)) {
    discard(digest);
    Rf_error("cannot read %s", CHAR(STRING_ELT(path, 0)));
  }
  SEXP pointer = PROTECT(R_MakeExternalPtr(digest, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  UNPROTECT(1);
  return pointer;
}

static SEXP result(Digest *digest) {
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, digest->sha256 ? SHA256_BYTES : CRC_BYTES));
  if (digest->sha256) EVP_DigestFinal_ex(digest->sha256, RAW(bytes), NULL);
  else for (int i = 0; i < CRC_BYTES; i++) RAW(bytes)[i] = (Rbyte)(digest->crc >> (8 * (CRC_BYTES - 1 - i)));
  UNPROTECT(1);
  return bytes;
}

/* The digest of the first `length` bytes, the most significant first; NULL where there are not as many, or it has ended already. */
SEXP digest_end(SEXP pointer, SEXP length) {
  Digest *digest = R_ExternalPtrAddr(pointer);
  if (!digest) return R_NilValue;
  double total = Rf_asReal(length);
  finish(digest, total, 0);
  SEXP answer = PROTECT(digest->done == total ? result(digest) : R_NilValue);
  discard(digest);
  R_ClearExternalPtr(pointer);
  UNPROTECT(1);
  return answer;
}
