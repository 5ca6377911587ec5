#include "seg/slot.h"

#include "base/hot.h"
#include "os/futex.h"
#include "seg/slot_crew.h"

#include <limits.h>
#include <string.h>

/* word: bit 0 ABORT, 1 SLEEPERS, 2-4 decision, 5-12 tick, 13-31 generation. A member lags behind
 * its slot by one generation at most, and by one tick a round, so the narrow fields never lie. */
#define DECISION_SHIFT 2
#define DECISION_MASK (UINT32_C(7) << DECISION_SHIFT)
#define TICK_SHIFT 5
#define TICK_MASK (UINT32_C(0xff) << TICK_SHIFT)
#define GENERATION_SHIFT 13
#define GENERATION_MASK (UINT32_MAX << GENERATION_SHIFT)

static uint32_t generation_bits(uint64_t index)
{
    return (uint32_t)(index / EMU_SLOTS) << GENERATION_SHIFT;
}

static enum emu_decision decision_in(uint32_t word)
{
    return (enum emu_decision)((word & DECISION_MASK) >> DECISION_SHIFT);
}

static bool is_of(uint32_t word, uint64_t index)
{
    return (word & GENERATION_MASK) == generation_bits(index);
}

/* How far the slot is past the generation of the call; negative: not there yet. */
static int32_t generations_past(uint32_t word, uint64_t index)
{
    return (int32_t)((word & GENERATION_MASK) - generation_bits(index)) >> GENERATION_SHIFT;
}

/* seq_cst, as the changes are: loan.c orders a member's own word against this one. */
static uint32_t look(const struct emu_ring *ring, uint64_t index)
{
    return atomic_load_explicit(emu_slot_word(ring, index), memory_order_seq_cst);
}

EMU_HOT bool emu_slot_free(const struct emu_ring *ring, uint64_t index)
{
    return is_of(look(ring, index), index);
}

EMU_HOT enum emu_decision emu_slot_decision(const struct emu_ring *ring, uint64_t index)
{
    uint32_t word = look(ring, index);
    if (is_of(word, index))
        return decision_in(word);
    return generations_past(word, index) > 0 ? EMU_SLOT_COMPLETE : EMU_SLOT_OPEN;
}

EMU_HOT bool emu_slot_shift(const struct emu_ring *ring, uint64_t index, enum emu_decision from,
                            enum emu_decision to)
{
    for (;;) {
        uint32_t seen = look(ring, index);
        if (!is_of(seen, index) || decision_in(seen) != from)
            return false;
        uint32_t wanted = (seen & ~DECISION_MASK) | (uint32_t)to << DECISION_SHIFT;
        _Atomic uint32_t *word = emu_slot_word(ring, index);
        if (to == EMU_SLOT_LENT ? emu_word_replace_for_work(word, seen, wanted)
                                : emu_word_replace(word, seen, wanted))
            return true;
    }
}

void emu_slot_tick(const struct emu_ring *ring, uint64_t index)
{
    _Atomic uint32_t *word = emu_slot_word(ring, index);
    for (;;) {
        uint32_t seen = atomic_load_explicit(word, memory_order_acquire);
        uint32_t next = (seen & ~TICK_MASK) | ((seen + (1u << TICK_SHIFT)) & TICK_MASK);
        if (emu_word_replace(word, seen, next))
            return;
    }
}

EMU_HOT void emu_slot_sign(const struct emu_ring *ring, uint64_t index, uint32_t member,
                           const struct emu_note *note, const struct emu_offer *offer)
{
    struct emu_slot_entry *entry = emu_ring_entry(ring, index, member);
    atomic_store_explicit(&entry->posted, 0, memory_order_release);
    atomic_store_explicit(&entry->course, offer->rounds | (offer->lent ? EMU_COURSE_LENT : 0),
                          memory_order_release);
    if (offer->lent) { /* else nobody asks */
        /* relaxed: published by posted below */
        atomic_store_explicit(&entry->input, offer->input, memory_order_relaxed);
        atomic_store_explicit(&entry->output, offer->output, memory_order_relaxed);
        atomic_store_explicit(&entry->ledger, offer->ledger, memory_order_relaxed);
    }
    emu_words_store(entry->note, note, EMU_NOTE_WORDS);
    atomic_store_explicit(&entry->posted, index + 1, memory_order_release);
}

EMU_HOT bool emu_slot_agrees(const struct emu_ring *ring, uint64_t index)
{
    uint64_t first[EMU_NOTE_SIGNATURE_WORDS], other[EMU_NOTE_SIGNATURE_WORDS];
    emu_words_load(first, emu_ring_entry(ring, index, 0)->note, EMU_NOTE_SIGNATURE_WORDS);
    for (uint32_t i = 1; i < ring->size; i++) {
        emu_words_load(other, emu_ring_entry(ring, index, i)->note, EMU_NOTE_SIGNATURE_WORDS);
        if (memcmp(first, other, sizeof first) != 0)
            return false;
    }
    return true;
}

static uint64_t course_of(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    return atomic_load_explicit(&emu_ring_entry(ring, index, member)->course, memory_order_acquire);
}

static uint64_t rounds_of(const struct emu_ring *ring, uint64_t index)
{
    return course_of(ring, index, 0) & EMU_COURSE_ROUNDS;
}

static bool all_lent(const struct emu_ring *ring, uint64_t index)
{
    uint32_t i = 0;
    while (i < ring->size && (course_of(ring, index, i) & EMU_COURSE_LENT))
        i++;
    return i == ring->size;
}

static enum emu_decision agreed(const struct emu_ring *ring, uint64_t index, bool folded)
{
    if (folded)
        return EMU_SLOT_FOLDED;
    if (rounds_of(ring, index) <= 1)
        return EMU_SLOT_COMPLETE;
    return all_lent(ring, index) ? EMU_SLOT_LENT : EMU_SLOT_MATCHED;
}

/* All members have signed: match, complete or break. Anyone may call it, any number of times. */
static EMU_HOT void judge(const struct emu_ring *ring, uint64_t index, uint32_t judging_rank,
                          bool folded)
{
    if (folded || emu_slot_agrees(ring, index)) {
        emu_slot_shift(ring, index, EMU_SLOT_OPEN, agreed(ring, index, folded));
    } else if (emu_slot_shift(ring, index, EMU_SLOT_OPEN, EMU_SLOT_MISMATCH)) {
        struct emu_breach breach = {true, index, EMU_SLOT_MISMATCH, judging_rank};
        emu_ring_break(ring, &breach);
    }
}

static unsigned turn_of(enum emu_turn turn, uint64_t round)
{
    return (unsigned)turn + (unsigned)(round % 2);
}

static uint64_t time_of(uint64_t round)
{
    return round / 2 + 1;
}

static void note_done(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    atomic_store_explicit(&emu_ring_entry(ring, index, member)->done, index + 1,
                          memory_order_release);
}

/* Nothing but its own word says what a member still has to do: one round, or what it lent. */
static bool gives_no_more(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    uint64_t course = course_of(ring, index, member);
    return (course & EMU_COURSE_LENT) || (course & EMU_COURSE_ROUNDS) <= 1;
}

EMU_HOT bool emu_slot_arrive(const struct emu_ring *ring, uint64_t index, uint32_t member,
                             uint64_t round, uint64_t rounds)
{
    bool last =
        emu_slot_crew_come(ring, index, member, turn_of(EMU_TURN_DEPOSITED, round), time_of(round));
    if (round == 0 && last)
        return true; /* done when it has judged */
    if (round == 0 ? gives_no_more(ring, index, member) : round + 1 == rounds)
        note_done(ring, index, member);
    if (last && round + 1 == rounds)
        emu_slot_shift(ring, index, EMU_SLOT_MATCHED, EMU_SLOT_COMPLETE);
    else if (last)
        emu_slot_tick(ring, index);
    return false;
}

EMU_HOT void emu_slot_judge(const struct emu_ring *ring, uint64_t index, uint32_t member,
                            bool folded)
{
    judge(ring, index, emu_group_member(&ring->members, member), folded);
    if (gives_no_more(ring, index, member))
        note_done(ring, index, member);
}

void emu_slot_announce(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round,
                       uint64_t rounds)
{
    if (emu_slot_arrive(ring, index, member, round, rounds))
        emu_slot_judge(ring, index, member, false);
}

EMU_HOT bool emu_slot_deposited(const struct emu_ring *ring, uint64_t index, uint64_t round)
{
    return emu_slot_crew_have_come(ring, index, turn_of(EMU_TURN_DEPOSITED, round), time_of(round));
}

bool emu_slot_consumed(const struct emu_ring *ring, uint64_t index, uint64_t round)
{
    return emu_slot_crew_have_come(ring, index, turn_of(EMU_TURN_CONSUMED, round), time_of(round));
}

void emu_slot_consume(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round)
{
    if (emu_slot_crew_come(ring, index, member, turn_of(EMU_TURN_CONSUMED, round), time_of(round)))
        emu_slot_tick(ring, index);
}

/* Who departs last has the slot for itself until it opens the next generation. */
EMU_HOT void emu_slot_depart(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    struct emu_slot *slot = emu_ring_slot(ring, index);
    if (!emu_slot_crew_come(ring, index, member, EMU_TURN_DEPARTED, 1))
        return;
    emu_slot_crew_start_over(ring, index);
    atomic_store_explicit(&slot->next_unit, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->units_done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->corrupt, 0, memory_order_relaxed);
    for (;;) {
        uint32_t seen = look(ring, index);
        uint32_t wanted =
            (seen & (EMU_WORD_ABORT | TICK_MASK)) | generation_bits(index + EMU_SLOTS);
        if (emu_word_replace(&slot->word, seen, wanted))
            return;
    }
}

/* The call that the slot is at, given one that was or will be met in it nearby. */
static uint64_t index_near(uint32_t word, uint64_t near, uint32_t place)
{
    int64_t apart = generations_past(word, near);
    return (near / EMU_SLOTS + (uint64_t)apart) * EMU_SLOTS + place;
}

/* End what is undecided in this slot at or after the breach. */
static void settle(const struct emu_ring *ring, uint64_t index, const struct emu_breach *breach)
{
    if (emu_slot_decision(ring, index) == EMU_SLOT_OPEN && emu_slot_deposited(ring, index, 0))
        judge(ring, index, breach->rank, false);
    if (emu_slot_decision(ring, index) == EMU_SLOT_MATCHED &&
        emu_slot_deposited(ring, index, rounds_of(ring, index) - 1))
        emu_slot_shift(ring, index, EMU_SLOT_MATCHED, EMU_SLOT_COMPLETE);
    if (index < breach->index || !emu_slot_crew_is_used(ring, index))
        return;
    bool won = emu_slot_shift(ring, index, EMU_SLOT_OPEN, breach->cause) ||
               emu_slot_shift(ring, index, EMU_SLOT_MATCHED, breach->cause) ||
               emu_slot_shift(ring, index, EMU_SLOT_LENT, breach->cause);
    if (won && index == breach->index)
        emu_breach_report(ring, breach);
}

/* broken: 0, or index + 1 (40 bits) | cause (3) | rank (21). Smaller is earlier. */
#define BREACH_RANK_BITS 21
#define BREACH_CAUSE_BITS 3
_Static_assert(EMU_SEGMENT_MAX_WORLD <= UINT64_C(1) << BREACH_RANK_BITS, "ranks fit in a breach");

EMU_HOT struct emu_breach emu_ring_breach(const struct emu_ring *ring)
{
    uint64_t word = atomic_load_explicit(&ring->head->broken, memory_order_acquire);
    if (!word)
        return (struct emu_breach){0};
    return (struct emu_breach){
        .broken = true,
        .index = (word >> (BREACH_RANK_BITS + BREACH_CAUSE_BITS)) - 1,
        .cause = (enum emu_decision)((word >> BREACH_RANK_BITS) & 7),
        .rank = (uint32_t)(word & ((1u << BREACH_RANK_BITS) - 1)),
    };
}

static void keep_earliest(struct emu_group_head *head, const struct emu_breach *breach)
{
    uint64_t wanted = (breach->index + 1) << (BREACH_RANK_BITS + BREACH_CAUSE_BITS) |
                      (uint64_t)breach->cause << BREACH_RANK_BITS | breach->rank;
    uint64_t seen = atomic_load_explicit(&head->broken, memory_order_acquire);
    while (seen == 0 || seen >> (BREACH_RANK_BITS + BREACH_CAUSE_BITS) > breach->index + 1)
        if (atomic_compare_exchange_weak_explicit(&head->broken, &seen, wanted,
                                                  memory_order_acq_rel, memory_order_acquire))
            return;
}

void emu_ring_break(const struct emu_ring *ring, const struct emu_breach *breach)
{
    keep_earliest(ring->head, breach);
    struct emu_breach first = emu_ring_breach(ring);
    if (breach->cause == EMU_SLOT_MISMATCH)
        emu_breach_report(ring, breach);
    for (uint32_t place = 0; place < EMU_SLOTS; place++) {
        struct emu_slot *slot = emu_ring_slot(ring, place);
        uint32_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
        settle(ring, index_near(word, breach->index, place), &first);
        emu_slot_tick(ring, place);
        emu_futex_wake(&slot->word, INT_MAX); /* also for a waker that died before it woke */
    }
}

void emu_ring_meet_breach(const struct emu_ring *ring, uint64_t index)
{
    struct emu_breach breach = emu_ring_breach(ring);
    if (emu_slot_free(ring, index))
        settle(ring, index, &breach);
    emu_breach_report(ring, &breach);
}

/* What the member lent is done with when the call has ended, not before; if others did not lend, it
 * owes its rounds after all. */
static bool is_out_on_loan(const struct emu_ring *ring, uint64_t place, uint32_t member,
                           uint64_t *index)
{
    struct emu_slot_entry *entry = emu_ring_entry(ring, place, member);
    uint64_t posted = atomic_load_explicit(&entry->posted, memory_order_acquire);
    if (posted == 0 || !(course_of(ring, place, member) & EMU_COURSE_LENT))
        return false;
    *index = posted - 1;
    enum emu_decision decision = emu_slot_decision(ring, *index);
    return decision == EMU_SLOT_OPEN || decision == EMU_SLOT_MATCHED || decision == EMU_SLOT_LENT;
}

uint64_t emu_ring_next_of(const struct emu_ring *ring, uint32_t member)
{
    uint64_t done = 0; /* calls of this member that are through, somewhere in the ring */
    uint64_t loan = UINT64_MAX, index;
    for (uint32_t place = 0; place < EMU_SLOTS; place++) {
        uint64_t last =
            atomic_load_explicit(&emu_ring_entry(ring, place, member)->done, memory_order_acquire);
        done = last > done ? last : done;
        if (is_out_on_loan(ring, place, member, &index) && index < loan)
            loan = index;
    }
    /* Calls are signed in order, but a long one may be overtaken: look for a gap before the last.
     */
    for (index = done > EMU_SLOTS ? done - EMU_SLOTS : 0; index < done && index < loan; index++)
        if (atomic_load_explicit(&emu_ring_entry(ring, index, member)->done, memory_order_acquire) <
            index + 1)
            return index;
    return done < loan ? done : loan;
}
