#include "seg/gate.h"

#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/gate_words.h"
#include "seg/words.h"

#include <limits.h>

#define VERDICT_SHIFT 2
#define STEP_SHIFT 4
#define STEP_MASK (UINT32_MAX << STEP_SHIFT)

static struct emu_gate *gate_of(const struct emu_segment *segment)
{
    return (void *)(segment->base + segment->gates);
}

uint64_t emu_gate_bytes(uint32_t world)
{
    return sizeof(struct emu_gate) + (uint64_t)world * sizeof(struct emu_gate_line);
}

void emu_gate_ring(const struct emu_segment *segment)
{
    struct emu_gate *gate = gate_of(segment);
    atomic_fetch_add_explicit(&gate->bell, 1, memory_order_release);
    emu_futex_wake(&gate->bell, INT_MAX);
}

uint64_t emu_gate_arrived(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&gate_of(segment)->arrived[rank].step, memory_order_acquire);
}

static void arrive(const struct emu_segment *segment, uint32_t rank, uint64_t step)
{
    struct emu_gate *gate = gate_of(segment);
    uint64_t before = atomic_fetch_add_explicit(&gate->arrivals, 1, memory_order_acq_rel);
    atomic_store_explicit(&gate->arrived[rank].step, step, memory_order_release);
    if (before + 1 == step * segment->world)
        emu_gate_ring(segment);
}

/* Has the gate moved to `step` or past it? Steps wrap in 28 bits; nobody is that far behind. */
static bool has_answered(uint32_t word, uint64_t step)
{
    return (int32_t)((word & STEP_MASK) - ((uint32_t)step << STEP_SHIFT)) >= 0 &&
           ((word >> VERDICT_SHIFT) & 3) != 0;
}

enum emu_status emu_gate_pass(const struct emu_segment *segment, uint32_t rank, uint64_t step,
                              enum emu_gate_verdict *verdict)
{
    struct emu_gate *gate = gate_of(segment);
    struct emu_rest rest;
    static const struct emu_wants nothing;
    arrive(segment, rank, step);
    emu_board_wait_in(segment, rank, EMU_WAIT_GATE, NULL);
    emu_rest_publish(segment, rank, &rest, &nothing);
    for (;;) {
        uint32_t word = atomic_load_explicit(&gate->answer, memory_order_acquire);
        bool answered = has_answered(word, step);
        if (answered || emu_abort_look(segment)) {
            emu_board_set_state(segment, rank, EMU_BOARD_RUNNING);
            if (!answered)
                return EMU_EABORTED;
            *verdict = (enum emu_gate_verdict)((word >> VERDICT_SHIFT) & 3);
            return EMU_OK;
        }
        emu_rest_sleep(segment, rank, &rest,
                       &(struct emu_sleep){&gate->answer, word, -1, EMU_LANE_ALL});
    }
}

static bool someone_will_not_come(const struct emu_segment *segment, uint64_t step)
{
    if (!atomic_load_explicit(&emu_header_of(segment)->failed, memory_order_acquire))
        return false;
    for (uint32_t rank = 0; rank < segment->world; rank++)
        if (emu_board_gone(segment, rank) && emu_gate_arrived(segment, rank) < step)
            return true;
    return false;
}

enum emu_status emu_gate_all_arrived(const struct emu_segment *segment, uint64_t step)
{
    struct emu_gate *gate = gate_of(segment);
    for (;;) {
        uint32_t rung = atomic_load_explicit(&gate->bell, memory_order_acquire);
        if (atomic_load_explicit(&gate->arrivals, memory_order_acquire) >= step * segment->world)
            return EMU_OK;
        if (emu_abort_look(segment))
            return EMU_EABORTED;
        if (someone_will_not_come(segment, step))
            return EMU_EPEER;
        emu_futex_wait(&gate->bell, rung, -1);
    }
}

void emu_gate_answer(const struct emu_segment *segment, uint64_t step,
                     enum emu_gate_verdict verdict)
{
    _Atomic uint32_t *answer = &gate_of(segment)->answer;
    uint32_t seen, wanted;
    do {
        seen = atomic_load_explicit(answer, memory_order_acquire);
        wanted = (seen & EMU_WORD_ABORT) | (uint32_t)verdict << VERDICT_SHIFT |
                 (uint32_t)step << STEP_SHIFT;
    } while (!emu_word_replace(answer, seen, wanted));
}
