/* Does each member of a shard group keep its own chunk of the optimizer's state, and of what else
 * is divided? Part of the tiling check: blocks tile a tensor, chunks tile a block. */
#ifndef EMU_CHECK_CHUNK_TILING_H
#define EMU_CHECK_CHUNK_TILING_H

#include "check/audit.h"

/* SHARD_TILING for chunks that are another member's; returns how many, and adds to *compared. */
uint64_t emu_check_chunks(const struct emu_evidence *evidence, struct emu_audit *audit,
                          uint64_t *compared);

#endif
