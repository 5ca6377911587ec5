#include "seg/loan.h"

#include "seg/board_words.h"

static _Atomic uint64_t *course_at(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return &emu_ring_entry(ring, index, member)->course;
}

/* relaxed load: the member itself is the only writer */
static void set_course(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t bits,
                       bool on)
{
    _Atomic uint64_t *course = course_at(ring, index, member);
    uint64_t seen = atomic_load_explicit(course, memory_order_relaxed);
    atomic_store_explicit(course, on ? seen | bits : seen & ~bits, memory_order_seq_cst);
}

void emu_loan_wait(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    set_course(ring, index, member, EMU_COURSE_WAITS, true);
}

bool emu_loan_waits(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return atomic_load_explicit(course_at(ring, index, member), memory_order_acquire) &
           EMU_COURSE_WAITS;
}

static bool is_lent(const struct emu_ring *ring, uint64_t index)
{
    return emu_slot_decision(ring, index) == EMU_SLOT_LENT;
}

bool emu_loan_enter(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    set_course(ring, index, member, EMU_COURSE_WORKS, true);
    return is_lent(ring, index);
}

bool emu_loan_take(const struct emu_ring *ring, uint64_t index, uint64_t *unit)
{
    if (!is_lent(ring, index))
        return false;
    /* relaxed: says who does a unit, publishes nothing */
    *unit =
        atomic_fetch_add_explicit(&emu_ring_slot(ring, index)->next_unit, 1, memory_order_relaxed);
    return true;
}

void emu_loan_leave(const struct emu_ring *ring, uint64_t index, uint32_t member,
                    const uint64_t done_and_total[2])
{
    uint64_t done = done_and_total[0], total = done_and_total[1];
    set_course(ring, index, member, EMU_COURSE_WORKS, false);
    if (!is_lent(ring, index)) {
        emu_slot_tick(ring, index);
        return;
    }
    if (done == 0)
        return;
    uint64_t before = atomic_fetch_add_explicit(&emu_ring_slot(ring, index)->units_done, done,
                                                memory_order_acq_rel);
    if (before + done == total)
        emu_slot_shift(ring, index, EMU_SLOT_LENT, EMU_SLOT_COMPLETE);
}

bool emu_loan_is_quiet(const struct emu_ring *ring, uint64_t index)
{
    for (uint32_t i = 0; i < ring->size; i++) {
        uint64_t course = atomic_load_explicit(course_at(ring, index, i), memory_order_seq_cst);
        if ((course & EMU_COURSE_WORKS) &&
            !emu_board_gone(ring->segment, emu_group_member(&ring->members, i)))
            return false;
    }
    return true;
}

/* relaxed: published by posted, and the judgement that all have signed */
static unsigned char *lent_at(const struct emu_ring *ring, const _Atomic uint64_t *word)
{
    uint64_t offset = atomic_load_explicit(word, memory_order_relaxed);
    return offset ? ring->segment->base + offset : NULL;
}

const unsigned char *emu_loan_input(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return lent_at(ring, &emu_ring_entry(ring, index, member)->input);
}

unsigned char *emu_loan_output(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return lent_at(ring, &emu_ring_entry(ring, index, member)->output);
}

unsigned char *emu_loan_ledger(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return lent_at(ring, &emu_ring_entry(ring, index, member)->ledger);
}
