#ifndef CENOTE_H
#define CENOTE_H

#include <Rinternals.h>
#include <stdint.h>

/* A file at a position. R passes sizes as doubles, which are exact up to 2^53. */
#include <stdio.h>
FILE *open_at(const char *path, double offset);

/* The CRC-64/NVME of bytes that follow those with the CRC `crc`; 0 before the first. Must be prepared once. */
void crc64nvme_prepare(void);
uint64_t crc64nvme(uint64_t crc, const unsigned char *bytes, size_t size);

/* A CRC as eight bytes, the most significant first. */
void write_crc(uint64_t crc, Rbyte *bytes);

/* Renames a file over another one, in one step if possible; returns whether it succeeded. */
int take_place(const char *from, const char *to);

SEXP digest_begin(SEXP path, SEXP offset, SEXP length, SEXP algorithm);
SEXP digest_end(SEXP pointer, SEXP length);
SEXP crc_of(SEXP bytes);
SEXP replace_file(SEXP part, SEXP file);
SEXP tar_pack(SEXP paths, SEXP names, SEXP sizes);
SEXP tar_index(SEXP archive);
SEXP piece_digests(SEXP bytes, SEXP offsets, SEXP sizes, SEXP algorithm);
SEXP write_pieces(SEXP bytes, SEXP offsets, SEXP sizes, SEXP paths);
SEXP path_kinds(SEXP paths);
SEXP lock_take(SEXP path);
SEXP lock_release(SEXP pointer);
SEXP reader_open(SEXP path, SEXP offset, SEXP length);
SEXP reader_next(SEXP pointer, SEXP most);

#endif
