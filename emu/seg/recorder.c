#include "seg/recorder.h"

#include "base/hot.h"
#include "seg/board.h"
#include "seg/board_words.h"
#include "seg/words.h"

#define STATUS_BITS 8
#define STATUS_MASK ((UINT64_C(1) << STATUS_BITS) - 1)

static struct emu_record *record_of(const struct emu_segment *segment, uint32_t rank,
                                    uint64_t number)
{
    return &emu_recorder_of(segment, rank)->records[number % EMU_RECORDS];
}

EMU_HOT void emu_recorder_begin(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                                const struct emu_note *note)
{
    struct emu_record *record = record_of(segment, rank, number);
    atomic_store_explicit(&record->sequence, 2 * number + 1, memory_order_release);
    atomic_store_explicit(&record->started, emu_ticks_now(&segment->begun), memory_order_release);
    atomic_store_explicit(&record->ended, 0, memory_order_release);
    emu_words_store(record->note, note, EMU_NOTE_WORDS);
    atomic_store_explicit(&record->sequence, 2 * number + 2, memory_order_release);
    emu_board_begin_call(segment, rank, number + 1);
}

EMU_HOT void emu_recorder_end(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                              enum emu_status status)
{
    struct emu_record *record = record_of(segment, rank, number);
    /* relaxed: the rank itself wrote it. A call that ends 256 calls later finds its record gone. */
    if (atomic_load_explicit(&record->sequence, memory_order_relaxed) != 2 * number + 2)
        return;
    uint64_t started = atomic_load_explicit(&record->started, memory_order_relaxed);
    uint64_t now = emu_ticks_now(&segment->begun);
    uint64_t span = now > started ? now - started : 0; /* a look on another core, some ns apart */
    atomic_store_explicit(&record->ended, (span + 1) << STATUS_BITS | (uint64_t)status,
                          memory_order_release);
}

static bool read_record(const struct emu_segment *segment, uint32_t rank, uint64_t number,
                        struct emu_recorded_call *out)
{
    const struct emu_record *record = record_of(segment, rank, number);
    struct emu_note note;
    if (atomic_load_explicit(&record->sequence, memory_order_acquire) != 2 * number + 2)
        return false;
    uint64_t ended = atomic_load_explicit(&record->ended, memory_order_acquire);
    uint64_t started = atomic_load_explicit(&record->started, memory_order_acquire);
    emu_words_load(&note, record->note, EMU_NOTE_WORDS);
    if (atomic_load_explicit(&record->sequence, memory_order_relaxed) != 2 * number + 2)
        return false;
    emu_note_view(segment, rank, &note, &out->call);
    out->started_ns = started; /* ticks, for the caller to convert */
    out->ended_ns = ended ? started + (ended >> STATUS_BITS) - 1 : 0;
    out->status = (enum emu_status)(ended & STATUS_MASK);
    return true;
}

uint32_t emu_recorder_read(const struct emu_segment *segment, uint32_t rank,
                           struct emu_recorded_call *out, uint32_t room)
{
    uint64_t begun =
        atomic_load_explicit(&emu_board_of(segment, rank)->calls, memory_order_acquire);
    uint64_t kept = begun < EMU_RECORDS ? begun : EMU_RECORDS;
    kept = kept < room ? kept : room;
    uint32_t written = 0;
    for (uint64_t number = begun - kept; number < begun; number++)
        if (read_record(segment, rank, number, &out[written]))
            written++;
    struct emu_ticks_rate rate = emu_ticks_rate(&segment->begun);
    for (uint32_t i = 0; i < written; i++) {
        out[i].started_ns = emu_ticks_ns(&rate, out[i].started_ns);
        out[i].ended_ns = out[i].ended_ns ? emu_ticks_ns(&rate, out[i].ended_ns) : 0;
    }
    return written;
}
