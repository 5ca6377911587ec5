#include "bench/regimes.h"

#include "seg/slot.h"

#include <inttypes.h>

enum emu_status emu_regimes_of(const struct emu_roster *roster, struct emu_regimes *regimes,
                               struct emu_reason *reason)
{
    struct emu_segment segment;
    struct emu_ways ways;
    enum emu_status status = emu_ways_here(&ways, reason);
    if (status != EMU_OK)
        return status;
    struct emu_segment_params params = {.roster = roster, .ways = &ways};
    status = emu_segment_plan(&params, &segment);
    if (status != EMU_OK)
        return emu_reason_set(reason, "no address space holds what this mesh shares: fewer ranks");
    uint64_t chunks = (uint64_t)roster->family_count * EMU_SLOTS * 2; /* as seg/ring.c cuts it */
    *regimes = (struct emu_regimes){.ways = ways,
                                    .inline_bytes = EMU_INLINE_BYTES,
                                    .chunk_bytes = segment.stage_bytes / chunks,
                                    .open_calls = EMU_SLOTS};
    return EMU_OK;
}

static void print_group(struct emu_text *text, const char *title, uint64_t lend_from,
                        const char *how)
{
    emu_text_printf(text, "%s\n", title);
    if (lend_from > 0)
        emu_text_printf(text, "  %10d to %-14" PRIu64 "%s\n", 0, lend_from, how);
    if (lend_from < UINT64_MAX)
        emu_text_printf(text, "  %10" PRIu64 " and more          lent: see below\n", lend_from + 1);
}

void emu_regimes_text(const struct emu_regimes *regimes, struct emu_text *text)
{
    const struct emu_ways *ways = &regimes->ways;
    emu_text_printf(text, "bytes of a member's input, and the way they go; cores=%" PRIu32 "\n\n",
                    ways->cores);
    print_group(text, "groups of no more members than cores", ways->lend_from_few,
                "each deposits, each folds or copies for itself");
    print_group(text, "larger groups; four times these bytes where nothing is folded",
                ways->lend_from_many, "each deposits; the last one folds for all, others copy");
    emu_text_printf(text,
                    "\ndeposits of up to %" PRIu64
                    " bytes lie in the slot, beside the flags, up to "
                    "%" PRIu64 " in the stage\nside by side, larger ones in rounds of that size, "
                    "two at a time\n",
                    regimes->inline_bytes, regimes->chunk_bytes);
    emu_text_printf(text,
                    "lent: when all agree, one member on each core takes units of up to %" PRIu64
                    " bytes from a\ncounter, folds them in its cache and writes every output; past "
                    "the cache from %" PRIu64 "\nbytes of inputs and outputs on, half of it in a "
                    "broadcast or scatter, but not where\nthe outputs are less than half of the "
                    "inputs. Buffers outside the arenas, and ranks\nunder faults: in rounds\n",
                    ways->unit_bytes, ways->stream_from);
    emu_text_printf(
        text,
        "waiting: a spin where every rank has a core, a short one where all ranks of this core "
        "have\ncome, a few yields, then a futex; the futex at once while yields are slow, and "
        "where\nhundreds of ranks share a core\n"
        "%u calls of a group may be open. Nothing is measured, but the cache asked for its size:\n"
        "MESHEMU_WAYS=few=BYTES,many=BYTES,unit=BYTES,stream=BYTES,cores=N fixes other "
        "thresholds\n",
        regimes->open_calls);
}
