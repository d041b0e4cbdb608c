/* The SHA-256 or the CRC-64/NVME of a file, or of a part of it, computed in a separate thread during the transfer.
 *
 * Invariants: the thread never calls R. Fields that both R and the thread write, `length` and `over`, are
 * accessed under the lock; all others belong to the thread until it ends. The thread ends before its data is freed. The
 * file is read, not mapped: accessing a mapping of a file that is truncated would kill the process. */

#include "cenote.h"

#include <math.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, SHA256_BYTES = 32, CRC_BYTES = 8 };

static const double UNKNOWN = -1; /* the file still grows */
static const double SHORTEST_PAUSE = 0.0002, LONGEST_PAUSE = 0.01, INTERRUPTIBLE = 0.1; /* in seconds */

typedef struct {
  char *path;
  double offset;
  FILE *file; /* NULL: it is not there yet */
  EVP_MD_CTX *sha256; /* NULL: the CRC is wanted */
  uint64_t crc;
  double done;
  unsigned char *chunk;
  pid_t process; /* a process that is forked off has no thread */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* `length` or `over` */
  double length;
  int over;
} Digest;

/* Under the lock: waits for a change, some seconds at most. */
static void await_change(Digest *digest, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  long nanoseconds = until.tv_nsec + (long)(seconds * 1e9);
  until.tv_sec += nanoseconds / 1000000000;
  until.tv_nsec = nanoseconds % 1000000000;
  pthread_cond_timedwait(&digest->changed, &digest->lock, &until);
}

static void tell(Digest *digest, double length) {
  pthread_mutex_lock(&digest->lock);
  digest->length = length;
  pthread_cond_broadcast(&digest->changed);
  pthread_mutex_unlock(&digest->lock);
}

/* The length; waits up to `seconds` until it is known. */
static double length_within(Digest *digest, double seconds) {
  pthread_mutex_lock(&digest->lock);
  if (digest->length == UNKNOWN && seconds > 0) await_change(digest, seconds);
  double length = digest->length;
  pthread_mutex_unlock(&digest->lock);
  return length;
}

/* Waits for the file to appear, as long as its length is not known. */
static void await_file(Digest *digest) {
  double pause = SHORTEST_PAUSE;
  for (int last = 0; !digest->file && !last; pause = fmin(2 * pause, LONGEST_PAUSE)) {
    last = length_within(digest, 0) != UNKNOWN;
    digest->file = open_at(digest->path, digest->offset);
    if (!digest->file && !last) length_within(digest, pause);
  }
  if (digest->file) setvbuf(digest->file, NULL, _IONBF, 0);
}

/* Reads the next bytes; returns their number. */
static size_t take(Digest *digest, double length) {
  double left = length == UNKNOWN ? CHUNK : length - digest->done;
  size_t got = fread(digest->chunk, 1, left < CHUNK ? (size_t)left : CHUNK, digest->file);
  clearerr(digest->file); /* the end of a file that grows is not for ever */
  if (digest->sha256) EVP_DigestUpdate(digest->sha256, digest->chunk, got);
  else digest->crc = crc64nvme(digest->crc, digest->chunk, got);
  digest->done += got;
  return got;
}

static void take_all(Digest *digest) {
  double length = length_within(digest, 0);
  while (length == UNKNOWN || digest->done < length) {
    size_t got = take(digest, length);
    if (got == 0 && length != UNKNOWN) return; /* shorter than was said */
    length = length_within(digest, got < CHUNK ? SHORTEST_PAUSE : 0);
  }
}

static void *run(void *argument) {
  Digest *digest = argument;
  await_file(digest);
  if (digest->file) take_all(digest);
  pthread_mutex_lock(&digest->lock);
  digest->over = 1;
  pthread_cond_broadcast(&digest->changed);
  pthread_mutex_unlock(&digest->lock);
  return NULL;
}

static void discard(Digest *digest) {
  free(digest->path);
  free(digest->chunk);
  if (digest->file) fclose(digest->file);
  EVP_MD_CTX_free(digest->sha256);
  pthread_cond_destroy(&digest->changed);
  pthread_mutex_destroy(&digest->lock);
  free(digest);
}

/* Ends the thread, wherever it is. */
static void finalize(SEXP pointer) {
  Digest *digest = R_ExternalPtrAddr(pointer);
  R_ClearExternalPtr(pointer);
  if (!digest || digest->process != getpid()) return;
  tell(digest, 0);
  pthread_join(digest->thread, NULL);
  discard(digest);
}

/* Selects the algorithm by its name in RFC 9530; returns whether it is supported. */
static int prepare(Digest *digest, const char *algorithm) {
  digest->chunk = malloc(CHUNK);
  if (!digest->chunk || !digest->path) return 0;
  if (strcmp(algorithm, "crc64nvme") == 0) return 1;
  digest->sha256 = EVP_MD_CTX_new();
  return digest->sha256 && EVP_DigestInit_ex(digest->sha256, EVP_sha256(), NULL);
}

static Digest *new_digest(const char *path, double offset, double length) {
  Digest *digest = calloc(1, sizeof *digest);
  if (!digest) return NULL;
  pthread_mutex_init(&digest->lock, NULL);
  pthread_cond_init(&digest->changed, NULL);
  digest->process = getpid();
  digest->path = strdup(path);
  digest->offset = offset;
  digest->length = ISNAN(length) ? UNKNOWN : length;
  digest->file = open_at(path, offset);
  return digest;
}

static int start(Digest *digest) {
  return (digest->file || digest->length == UNKNOWN) && pthread_create(&digest->thread, NULL, run, digest) == 0;
}

/* Starts at `offset`. If `length` is NA, the end is not known yet, and the file need not exist. */
SEXP digest_begin(SEXP path, SEXP offset, SEXP length, SEXP algorithm) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize, TRUE);
  Digest *digest = new_digest(CHAR(STRING_ELT(path, 0)), Rf_asReal(offset), Rf_asReal(length));
  if (!digest || !prepare(digest, CHAR(STRING_ELT(algorithm, 0))) || !start(digest)) {
    if (digest) discard(digest);
    Rf_error("cannot read %s", CHAR(STRING_ELT(path, 0)));
  }
  R_SetExternalPtrAddr(pointer, digest);
  UNPROTECT(1);
  return pointer;
}

static int over_within(Digest *digest, double seconds) {
  pthread_mutex_lock(&digest->lock);
  if (!digest->over) await_change(digest, seconds);
  int over = digest->over;
  pthread_mutex_unlock(&digest->lock);
  return over;
}

void write_crc(uint64_t crc, Rbyte *bytes) {
  for (int i = 0; i < CRC_BYTES; i++) bytes[i] = (Rbyte)(crc >> (8 * (CRC_BYTES - 1 - i)));
}

/* The CRC-64/NVME of bytes in memory. */
SEXP crc_of(SEXP bytes) {
  SEXP crc = PROTECT(Rf_allocVector(RAWSXP, CRC_BYTES));
  write_crc(crc64nvme(0, RAW(bytes), (size_t)XLENGTH(bytes)), RAW(crc));
  UNPROTECT(1);
  return crc;
}

static SEXP result(void *argument) {
  Digest *digest = argument;
  while (!over_within(digest, INTERRUPTIBLE)) R_CheckUserInterrupt();
  if (digest->done != digest->length) return R_NilValue;
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, digest->sha256 ? SHA256_BYTES : CRC_BYTES));
  if (digest->sha256) EVP_DigestFinal_ex(digest->sha256, RAW(bytes), NULL);
  else write_crc(digest->crc, RAW(bytes));
  UNPROTECT(1);
  return bytes;
}

static void clean_up(void *pointer) { finalize((SEXP)pointer); }

/* The digest of the first `length` bytes, the most significant first; NULL if there are fewer, or it has ended already.
 * If `length` is NA, the digest is abandoned. In every case the thread has ended on return. */
SEXP digest_end(SEXP pointer, SEXP length) {
  Digest *digest = R_ExternalPtrAddr(pointer);
  double total = Rf_asReal(length);
  if (!digest || digest->process != getpid() || ISNAN(total) || total < 0) {
    finalize(pointer);
    return R_NilValue;
  }
  tell(digest, total);
  return R_ExecWithCleanup(result, digest, clean_up, pointer);
}
