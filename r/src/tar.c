/* Many small files in one tar stream (POSIX pax), in memory.
 *
 * Invariants: an archive holds the files whose digests are given, completely, and no others. Reads never go beyond
 * the bytes of an archive, whatever they are. */

#include "cenote.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, SHA256_BYTES = 32, RECORD_BYTES = 160 };

/* The offsets of the fields in a header. */
enum { SIZE = 124, SIZE_BYTES = 12, CHECKSUM = 148, TYPE = 156, MAGIC = 257 };

static size_t padded(size_t size) { return (size + BLOCK - 1) / BLOCK * BLOCK; }

/* Names are in the pax records, so the one here does not matter; mode and time are left empty. */
static void write_header(unsigned char *block, char type, size_t size) {
  memset(block, 0, BLOCK);
  memcpy(block, "entry", 5);
  snprintf((char *)block + SIZE, SIZE_BYTES, "%011lo", (unsigned long)size);
  memcpy(block + MAGIC, "ustar\00000", 8);
  block[TYPE] = (unsigned char)type;
  memset(block + CHECKSUM, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < BLOCK; i++) sum += block[i];
  snprintf((char *)block + CHECKSUM, 8, "%06o", sum);
}

/* One record: its own length in decimal, the key and the value. */
static size_t write_record(char *to, size_t room, const char *key, const char *value) {
  size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1;
  for (size_t digits = 1, power = 10; length >= power; power *= 10) length = rest + ++digits;
  return (size_t)snprintf(to, room, "%zu %s=%s\n", length, key, value);
}

static size_t read_whole(const char *path, unsigned char *to, size_t size) {
  FILE *file = open_at(path, 0);
  if (!file) return 0;
  setvbuf(file, NULL, _IONBF, 0);
  size_t got = fread(to, 1, size, file);
  fclose(file);
  return got;
}

static void hexadecimal(const unsigned char *bytes, char *to) {
  for (int i = 0; i < SHA256_BYTES; i++) snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* The entry of a directory, if `path` is NULL, or of the first `size` bytes of a file, with its digest. Returns its
 * length: 0 if the file is shorter. */
static size_t pack_entry(unsigned char *to, const char *name, const char *path, size_t size, unsigned char *digest) {
  size_t room = strlen(name) + RECORD_BYTES;
  unsigned char *records = to + BLOCK, *content = records + padded(room) + BLOCK;
  size_t used = write_record((char *)records, room, "path", name);
  if (path) {
    if (read_whole(path, content, size) < size || !EVP_Digest(content, size, digest, NULL, EVP_sha256(), NULL)) return 0;
    char digits[2 * SHA256_BYTES + 1];
    hexadecimal(digest, digits);
    used += write_record((char *)records + used, room - used, "CENOTE.sha256", digits);
  }
  write_header(to, 'x', used);
  memset(records + used, 0, padded(used) - used);
  unsigned char *header = records + padded(used);
  memmove(header + BLOCK, content, size); /* the records may be shorter than their room */
  write_header(header, path ? '0' : '5', size);
  memset(header + BLOCK + size, 0, padded(size) - size);
  return (size_t)(header - to) + BLOCK + padded(size);
}

/* Files, and directories (without a path: NA), as an archive, and the SHA-256 of each; NULL for a directory, and for a
 * file that is shorter than its size, which is left out. */
SEXP tar_pack(SEXP paths, SEXP names, SEXP sizes) {
  R_xlen_t n = XLENGTH(names);
  size_t room = 2 * BLOCK, end = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    room += 2 * BLOCK + padded(strlen(CHAR(STRING_ELT(names, i))) + RECORD_BYTES) + padded((size_t)REAL(sizes)[i]);
  }
  SEXP archive = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)room)), digests = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    SEXP path = STRING_ELT(paths, i), digest = Rf_allocVector(RAWSXP, SHA256_BYTES);
    SET_VECTOR_ELT(digests, i, digest);
    const char *file = path == NA_STRING ? NULL : CHAR(path);
    size_t length = pack_entry(RAW(archive) + end, CHAR(STRING_ELT(names, i)), file, (size_t)REAL(sizes)[i], RAW(digest));
    if (!file || !length) SET_VECTOR_ELT(digests, i, R_NilValue);
    end += length;
  }
  memset(RAW(archive) + end, 0, 2 * BLOCK);
  SEXP packed = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(packed, 0, Rf_xlengthgets(archive, (R_xlen_t)(end + 2 * BLOCK)));
  SET_VECTOR_ELT(packed, 1, digests);
  UNPROTECT(3);
  return packed;
}

/* A decimal or octal number, which may be surrounded by blanks. */
static double number(const char *text, size_t length, int base) {
  double value = 0;
  for (size_t i = 0; i < length && text[i]; i++) {
    if (text[i] == ' ') continue;
    if (text[i] < '0' || text[i] >= '0' + base) return -1;
    value = value * base + (text[i] - '0');
  }
  return value;
}

typedef struct {
  double id;
  SEXP etag;
} Labels;

/* Stores the value of one pax record under its name, if it is a known one. */
static void take_record(Labels *labels, const char *key, size_t key_length, const char *value, size_t length) {
  if (key_length == 9 && memcmp(key, "CENOTE.id", 9) == 0) labels->id = number(value, length, 10);
  if (key_length == 11 && memcmp(key, "CENOTE.etag", 11) == 0) labels->etag = Rf_mkCharLenCE(value, (int)length, CE_UTF8);
}

static void take_records(Labels *labels, const char *records, size_t size) {
  for (size_t at = 0; at < size;) {
    const char *line = records + at, *blank = memchr(line, ' ', size - at);
    if (!blank) return;
    double length = number(line, (size_t)(blank - line), 10);
    if (length <= (double)(blank - line + 1) || length > (double)(size - at)) return;
    const char *key = blank + 1, *end = line + (size_t)length - 1, *equals = memchr(key, '=', (size_t)(end - key));
    if (!equals || memchr(equals, 0, (size_t)(end - equals))) return;
    take_record(labels, key, (size_t)(equals - key), equals + 1, (size_t)(end - equals - 1));
    at += (size_t)length;
  }
}

/* Locates the next entry of an archive: the offset of its content, and its size, type and labels. Returns whether there is one. */
static int next_entry(SEXP archive, size_t *at, size_t *size, char *type) {
  size_t end = (size_t)XLENGTH(archive);
  const char *bytes = (const char *)RAW(archive);
  if (*at + BLOCK > end || bytes[*at] == 0) return 0;
  double told = number(bytes + *at + SIZE, SIZE_BYTES, 8);
  *type = bytes[*at + TYPE];
  *at += BLOCK;
  if (told < 0 || told > (double)(end - *at)) return 0;
  *size = (size_t)told;
  return 1;
}

/* The files in an archive that has the records CENOTE.id and CENOTE.etag: a list of ids, tags, offsets and sizes.
 * Entries after an error are left out. */
SEXP tar_index(SEXP archive) {
  R_xlen_t most = XLENGTH(archive) / BLOCK, n = 0;
  const char *fields[] = {"id", "etag", "offset", "size", ""};
  SEXP index = PROTECT(Rf_mkNamed(VECSXP, fields)), tags = Rf_allocVector(STRSXP, most);
  SET_VECTOR_ELT(index, 1, tags);
  for (int field = 0; field < 4; field++) if (field != 1) SET_VECTOR_ELT(index, field, Rf_allocVector(REALSXP, most));
  Labels labels = {-1, NA_STRING};
  size_t at = 0, size;
  for (char type; n < most && next_entry(archive, &at, &size, &type); at += padded(size)) {
    if (type == 'x') {
      take_records(&labels, (const char *)RAW(archive) + at, size);
      if (labels.etag != NA_STRING) SET_STRING_ELT(tags, n, labels.etag);
      continue;
    }
    if (type == '0' && labels.id >= 0 && labels.etag != NA_STRING) {
      REAL(VECTOR_ELT(index, 0))[n] = labels.id;
      REAL(VECTOR_ELT(index, 2))[n] = (double)at;
      REAL(VECTOR_ELT(index, 3))[n++] = (double)size;
    }
    labels = (Labels){-1, NA_STRING};
  }
  for (int field = 0; field < 4; field++) SET_VECTOR_ELT(index, field, Rf_xlengthgets(VECTOR_ELT(index, field), n));
  UNPROTECT(1);
  return index;
}
