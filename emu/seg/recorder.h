/* What were the last calls of a rank? A flight recorder that is read after a crash.
 *
 *   one recorder a rank: EMU_RECORDS records, call n lies in record n mod EMU_RECORDS
 *   record: 0 sequence | 8 started | 16 ended | 24 status | 32 note | 168
 *
 * word       writers   readers   order            publishes       a stale read costs
 * sequence   the rank  launcher  release/acquire  the record      a record left out
 * ended      the rank  launcher  release/acquire  status          a call that seems not to have
 *                                                                 ended
 *
 * sequence is 2n+1 while call n is written, 2n+2 when it is whole.
 */
#ifndef EMU_SEG_RECORDER_H
#define EMU_SEG_RECORDER_H

#include "seg/note.h"
#include "seg/segment.h"

#include <stdatomic.h>
#include <stddef.h>

#define EMU_RECORDS 256

struct emu_record {
    _Atomic uint64_t sequence;
    _Atomic uint64_t started; /* ticks, see os/ticks.h */
    _Atomic uint64_t ended;
    _Atomic uint64_t status;
    _Atomic uint64_t note[EMU_NOTE_WORDS];
};
_Static_assert(sizeof(struct emu_record) == 168, "whole words");

struct emu_recorder {
    struct emu_record records[EMU_RECORDS];
};

/* Writers, the rank itself alone. number: calls begun before, from 0. */
void emu_recorder_begin(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                        const struct emu_note *note);
void emu_recorder_end(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                      enum emu_status status);

#endif
