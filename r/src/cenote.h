#ifndef CENOTE_H
#define CENOTE_H

#include <Rinternals.h>

/* A file at a position. R tells sizes in doubles: they are exact up to 2^53. */
#include <stdio.h>
FILE *open_at(const char *path, double offset);

SEXP digest_begin(SEXP path, SEXP offset, SEXP length);
SEXP digest_end(SEXP pointer, SEXP length);
SEXP reader_open(SEXP path, SEXP offset, SEXP length);
SEXP reader_next(SEXP pointer, SEXP most);

#endif
