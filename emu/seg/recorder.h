/* What were the last calls of a rank? A flight recorder that is read after a crash.
 *
 *   one recorder a rank: EMU_RECORDS records, call n lies in record n mod EMU_RECORDS
 *   record: 0 sequence | 8 started | 16 ended | 24 note | 64      one line, all that a call writes
 *
 * word       writers   readers   order            publishes       a stale read costs
 * sequence   the rank  launcher  release/acquire  the record      a record left out
 * ended      the rank  launcher  release/acquire  nothing         a call that seems not to have
 *                                                                 ended
 *
 * sequence is 2n+1 while call n is written, 2n+2 when it is whole. ended is 0, or the status below
 * 1 + the ticks since started, from bit 8 on: a counter that began with the machine would not fit.
 */
#ifndef EMU_SEG_RECORDER_H
#define EMU_SEG_RECORDER_H

#include "seg/header.h"
#include "seg/note.h"
#include "seg/sites.h"

#include <stdatomic.h>
#include <stddef.h>

#define EMU_RECORDS EMU_SITE_CALLS

struct emu_record {
    alignas(EMU_LINE) _Atomic uint64_t sequence;
    _Atomic uint64_t started; /* ticks, see os/ticks.h */
    _Atomic uint64_t ended;
    _Atomic uint64_t note[EMU_NOTE_WORDS];
};
_Static_assert(sizeof(struct emu_record) == EMU_LINE, "one line a call");

struct emu_recorder {
    struct emu_record records[EMU_RECORDS];
};

_Static_assert(EMU_STRIP_RECORDER + sizeof(struct emu_recorder) <= EMU_STRIP_BYTES, "it fits");

static inline struct emu_recorder *emu_recorder_of(const struct emu_segment *segment, uint32_t rank)
{
    return (void *)(segment->base + segment->strips + rank * EMU_STRIP_BYTES + EMU_STRIP_RECORDER);
}

/* Writers, the rank itself alone. number: calls begun before, from 0. */
void emu_recorder_begin(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                        const struct emu_note *note);
void emu_recorder_end(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                      enum emu_status status);

#endif
