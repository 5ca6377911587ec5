/* How is a call that is lent cut? By its signature and the table of ways alone, so that owners and
 * workers agree on units and on the blocks that are summed.
 *
 *   unit        enough for all leaders, none too small, or too large for the cache
 *   block       what is folded at a time: it, and as much of an input, fit into the nearest cache
 *   sum_block   what a checksum is of: a block, or more of them where the sums of a long payload
 *               would not fit into a chunk of the stage
 *
 * A unit is so many blocks and so many sum_blocks, but for the last one.
 */
#include "comm/shm.h"

#define UNIT_LEAST 2048
#define BLOCK_BYTES 4096
#define UNITS_PER_LEADER 4

uint64_t shm_pieces(uint64_t bytes, uint64_t piece)
{
    return bytes / piece + (bytes % piece != 0);
}

static uint64_t round_up(uint64_t bytes, uint64_t piece)
{
    return shm_pieces(bytes, piece) * piece;
}

static uint64_t unit_of(const struct shm_collective *own, uint64_t bytes)
{
    uint64_t most = own->group->ring.segment->ways.unit_bytes;
    uint64_t unit = bytes / ((uint64_t)own->group->leader_count * UNITS_PER_LEADER);
    unit = unit < UNIT_LEAST ? UNIT_LEAST : unit;
    return (unit < most ? unit : most) / EMU_LINE * EMU_LINE;
}

/* Do sums of blocks of this size fit into a chunk? */
static bool sums_fit(const struct shm_collective *own, uint64_t sum_block, struct shm_cut *cut)
{
    cut->sum_block = sum_block;
    cut->sums = shm_pieces(own->payload_max, sum_block);
    cut->ledger_sums = shm_pieces(own->ledger_bytes, sum_block);
    return cut->sums + cut->ledger_sums <= own->group->ring.chunk_bytes / sizeof(uint64_t);
}

struct shm_cut shm_cut_of(const struct shm_collective *own)
{
    struct shm_cut cut = {.unit = unit_of(own, own->payload_max),
                          .ledger_unit = unit_of(own, own->ledger_bytes),
                          .block = BLOCK_BYTES};
    if (own->group->ring.segment->checksums) {
        cut.block = round_up(cut.unit / shm_pieces(cut.unit, BLOCK_BYTES), EMU_LINE);
        uint64_t sum_block = cut.block;
        while (!sums_fit(own, sum_block, &cut))
            sum_block *= 2;
        cut.unit = round_up(cut.unit, cut.sum_block);
        cut.ledger_unit = round_up(cut.ledger_unit, cut.sum_block);
    }
    return cut;
}
