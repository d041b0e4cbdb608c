#include "cenote.h"

#include <R_ext/Rdynload.h>

static const R_CallMethodDef routines[] = {
    {"digest_begin", (DL_FUNC)&digest_begin, 4},
    {"digest_end", (DL_FUNC)&digest_end, 2},
    {"crc_of", (DL_FUNC)&crc_of, 1},
    {"lock_take", (DL_FUNC)&lock_take, 1},
    {"lock_release", (DL_FUNC)&lock_release, 1},
    {"path_kinds", (DL_FUNC)&path_kinds, 1},
    {"piece_digests", (DL_FUNC)&piece_digests, 4},
    {"replace_file", (DL_FUNC)&replace_file, 2},
    {"reader_open", (DL_FUNC)&reader_open, 3},
    {"reader_next", (DL_FUNC)&reader_next, 2},
    {"tar_index", (DL_FUNC)&tar_index, 1},
    {"tar_pack", (DL_FUNC)&tar_pack, 3},
    {"write_pieces", (DL_FUNC)&write_pieces, 4},
    {NULL, NULL, 0},
};

void R_init_cenote(DllInfo *library) {
  R_registerRoutines(library, NULL, routines, NULL, NULL);
  R_useDynamicSymbols(library, FALSE);
  R_forceSymbols(library, TRUE);
  crc64nvme_prepare();
}
