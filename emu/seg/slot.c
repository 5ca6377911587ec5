#include "seg/slot.h"

#include "os/futex.h"

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

static uint32_t look(const struct emu_ring *ring, uint64_t index)
{
    return atomic_load_explicit(emu_slot_word(ring, index), memory_order_acquire);
}

bool emu_slot_free(const struct emu_ring *ring, uint64_t index)
{
    return is_of(look(ring, index), index);
}

enum emu_decision emu_slot_decision(const struct emu_ring *ring, uint64_t index)
{
    uint32_t word = look(ring, index);
    if (is_of(word, index))
        return decision_in(word);
    return generations_past(word, index) > 0 ? EMU_SLOT_COMPLETE : EMU_SLOT_OPEN;
}

/* One arrow of the picture in the header. false: the slot was not in `from` of this call. */
static bool shift(const struct emu_ring *ring, uint64_t index, enum emu_decision from,
                  enum emu_decision to)
{
    for (;;) {
        uint32_t seen = look(ring, index);
        if (!is_of(seen, index) || decision_in(seen) != from)
            return false;
        uint32_t wanted = (seen & ~DECISION_MASK) | (uint32_t)to << DECISION_SHIFT;
        if (emu_word_replace(emu_slot_word(ring, index), seen, wanted))
            return true;
    }
}

/* Change nothing but the word, so that nobody falls asleep over news that lies elsewhere. */
static void tick(_Atomic uint32_t *word)
{
    for (;;) {
        uint32_t seen = atomic_load_explicit(word, memory_order_acquire);
        uint32_t next = (seen & ~TICK_MASK) | ((seen + (1u << TICK_SHIFT)) & TICK_MASK);
        if (emu_word_replace(word, seen, next))
            return;
    }
}

void emu_slot_sign(const struct emu_ring *ring, uint64_t index, uint32_t member,
                   const struct emu_note *note, uint64_t rounds)
{
    struct emu_slot_entry *entry = emu_ring_entry(ring, index, member);
    atomic_store_explicit(&entry->posted, 0, memory_order_release);
    atomic_store_explicit(&entry->rounds, rounds, memory_order_release);
    emu_words_store(entry->note, note, EMU_NOTE_WORDS);
    atomic_store_explicit(&entry->posted, index + 1, memory_order_release);
}

static bool signatures_agree(const struct emu_ring *ring, uint64_t index)
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

static uint64_t rounds_of(const struct emu_ring *ring, uint64_t index)
{
    return atomic_load_explicit(&emu_ring_entry(ring, index, 0)->rounds, memory_order_acquire);
}

/* All members have signed: match, complete or break. Anyone may call it, any number of times. */
static void judge(const struct emu_ring *ring, uint64_t index, uint32_t judging_rank)
{
    if (signatures_agree(ring, index)) {
        bool one = rounds_of(ring, index) <= 1;
        shift(ring, index, EMU_SLOT_OPEN, one ? EMU_SLOT_COMPLETE : EMU_SLOT_MATCHED);
    } else if (shift(ring, index, EMU_SLOT_OPEN, EMU_SLOT_MISMATCH)) {
        struct emu_breach breach = {true, index, EMU_SLOT_MISMATCH, judging_rank};
        emu_ring_break(ring, &breach);
    }
}

void emu_slot_announce(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round,
                       uint64_t rounds)
{
    struct emu_slot *slot = emu_ring_slot(ring, index);
    uint64_t all = ring->size * (round / 2 + 1);
    uint64_t before =
        atomic_fetch_add_explicit(&slot->deposited[round % 2], 1, memory_order_acq_rel);
    if (round + 1 == rounds) {
        struct emu_slot_entry *entry = emu_ring_entry(ring, index, member);
        atomic_store_explicit(&entry->done, index + 1, memory_order_release);
    }
    if (before + 1 != all)
        return;
    if (round == 0)
        judge(ring, index, emu_group_member(&ring->members, member));
    else if (round + 1 == rounds)
        shift(ring, index, EMU_SLOT_MATCHED, EMU_SLOT_COMPLETE);
    else
        tick(&slot->word);
}

bool emu_slot_deposited(const struct emu_ring *ring, uint64_t index, uint64_t round)
{
    const struct emu_slot *slot = emu_ring_slot(ring, index);
    return atomic_load_explicit(&slot->deposited[round % 2], memory_order_acquire) >=
           ring->size * (round / 2 + 1);
}

bool emu_slot_consumed(const struct emu_ring *ring, uint64_t index, uint64_t round)
{
    const struct emu_slot *slot = emu_ring_slot(ring, index);
    return atomic_load_explicit(&slot->consumed[round % 2], memory_order_acquire) >=
           ring->size * (round / 2 + 1);
}

void emu_slot_consume(const struct emu_ring *ring, uint64_t index, uint64_t round)
{
    struct emu_slot *slot = emu_ring_slot(ring, index);
    uint64_t before =
        atomic_fetch_add_explicit(&slot->consumed[round % 2], 1, memory_order_acq_rel);
    if (before + 1 == ring->size * (round / 2 + 1))
        tick(&slot->word);
}

/* Who departs last has the slot for itself until it opens the next generation. */
void emu_slot_depart(const struct emu_ring *ring, uint64_t index)
{
    struct emu_slot *slot = emu_ring_slot(ring, index);
    if (atomic_fetch_add_explicit(&slot->departed, 1, memory_order_acq_rel) + 1 != ring->size)
        return;
    for (int parity = 0; parity < 2; parity++) {
        /* relaxed: published by the change of the word below */
        atomic_store_explicit(&slot->deposited[parity], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->consumed[parity], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&slot->departed, 0, memory_order_relaxed);
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
    struct emu_slot *slot = emu_ring_slot(ring, index);
    if (emu_slot_decision(ring, index) == EMU_SLOT_OPEN && emu_slot_deposited(ring, index, 0))
        judge(ring, index, breach->rank);
    if (emu_slot_decision(ring, index) == EMU_SLOT_MATCHED &&
        emu_slot_deposited(ring, index, rounds_of(ring, index) - 1))
        shift(ring, index, EMU_SLOT_MATCHED, EMU_SLOT_COMPLETE);
    bool used = atomic_load_explicit(&slot->deposited[0], memory_order_acquire) > 0;
    if (index < breach->index || !used)
        return;
    bool won = shift(ring, index, EMU_SLOT_OPEN, breach->cause) ||
               shift(ring, index, EMU_SLOT_MATCHED, breach->cause);
    if (won && index == breach->index)
        emu_breach_report(ring, breach);
}

/* broken: 0, or index + 1 (40 bits) | cause (3) | rank (21). Smaller is earlier. */
#define BREACH_RANK_BITS 21
#define BREACH_CAUSE_BITS 3
_Static_assert(EMU_SEGMENT_MAX_WORLD <= UINT64_C(1) << BREACH_RANK_BITS, "ranks fit in a breach");

struct emu_breach emu_ring_breach(const struct emu_ring *ring)
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
        tick(&slot->word);
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

uint64_t emu_ring_next_of(const struct emu_ring *ring, uint32_t member)
{
    uint64_t done = 0; /* calls of this member that are through, somewhere in the ring */
    for (uint32_t place = 0; place < EMU_SLOTS; place++) {
        uint64_t last =
            atomic_load_explicit(&emu_ring_entry(ring, place, member)->done, memory_order_acquire);
        done = last > done ? last : done;
    }
    /* Calls are signed in order, but a long one may be overtaken: look for a gap before the last.
     */
    uint64_t from = done > EMU_SLOTS ? done - EMU_SLOTS : 0;
    for (uint64_t index = from; index < done; index++)
        if (atomic_load_explicit(&emu_ring_entry(ring, index, member)->done, memory_order_acquire) <
            index + 1)
            return index;
    return done;
}
