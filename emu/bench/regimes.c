#include "bench/regimes.h"

#include "seg/slot.h"

#include <inttypes.h>

enum emu_status emu_regimes_of(const struct emu_roster *roster, struct emu_regimes *regimes)
{
    struct emu_segment segment;
    struct emu_segment_params params = {.roster = roster};
    enum emu_status status = emu_segment_plan(&params, &segment);
    if (status != EMU_OK)
        return status;
    uint64_t chunks = (uint64_t)roster->family_count * EMU_SLOTS * 2; /* as seg/ring.c cuts it */
    *regimes = (struct emu_regimes){.inline_bytes = EMU_INLINE_BYTES,
                                    .chunk_bytes = segment.stage_bytes / chunks,
                                    .rounds_ahead = 2,
                                    .open_calls = EMU_SLOTS};
    return EMU_OK;
}

void emu_regimes_text(const struct emu_regimes *regimes, struct emu_text *text)
{
    emu_text_printf(text,
                    "one algorithm, whatever the op, the group and the processors: each member "
                    "deposits its\ninput, the last one compares all signatures, then each folds or "
                    "copies for itself, in the\norder of group ranks\n\n"
                    "  bytes of a member's input     where they are deposited\n");
    emu_text_printf(text, "  %10d to %-10" PRIu64 "      in the slot, beside the flags\n", 0,
                    regimes->inline_bytes);
    emu_text_printf(text, "  %10" PRIu64 " to %-10" PRIu64 "      in the stage, in one round\n",
                    regimes->inline_bytes + 1, regimes->chunk_bytes);
    emu_text_printf(text,
                    "  %10" PRIu64 " and more           in rounds of %" PRIu64
                    " bytes, %u of them in the stage at a time\n\n",
                    regimes->chunk_bytes + 1, regimes->chunk_bytes, regimes->rounds_ahead);
    emu_text_printf(text,
                    "waiting: a few yields, then a futex; the futex at once while yields are slow\n"
                    "%u calls of a group may be open; the thresholds are fixed, none is measured\n",
                    regimes->open_calls);
}
