#include "seg/needs.h"

#include "seg/board_words.h"
#include "seg/gate_words.h"
#include "seg/outbox.h"
#include "seg/slot.h"

#include <stdlib.h>
#include <string.h>

#define READERS(world) (2 * (size_t)(world)) /* places for at most `world` lists */
#define AT_THE_GATE UINT32_MAX

enum emu_status emu_needs_init(struct emu_needs *needs, uint32_t world)
{
    *needs = (struct emu_needs){.world = world};
    needs->ranks = calloc(world, sizeof *needs->ranks);
    needs->wants = calloc(world, sizeof *needs->wants);
    needs->readers = calloc(READERS(world), sizeof *needs->readers);
    needs->meetings = calloc(world, sizeof *needs->meetings);
    if (needs->ranks && needs->wants && needs->readers && needs->meetings)
        return EMU_OK;
    emu_needs_finish(needs);
    return EMU_ENOMEM;
}

void emu_needs_finish(struct emu_needs *needs)
{
    free(needs->ranks);
    free(needs->targets);
    free(needs->wants);
    free(needs->readers);
    free(needs->meetings);
    *needs = (struct emu_needs){0};
}

/* The reading of one rank's needs. */
struct reading {
    const struct emu_segment *segment;
    struct emu_needs *needs;
    uint32_t rank;
    struct emu_need *need;
    const struct emu_wants *wants; /* of the rank */
    struct emu_note note;
    bool no_memory;
};

static void act(struct reading *reading)
{
    reading->need->stand = EMU_STAND_ACTS;
}

static void add_target(struct reading *reading, uint32_t rank)
{
    struct emu_needs *needs = reading->needs;
    if (needs->target_count == needs->target_room) {
        size_t room = needs->target_room ? 2 * needs->target_room : 64;
        uint32_t *longer = realloc(needs->targets, room * sizeof *longer);
        if (!longer) {
            reading->no_memory = true;
            return;
        }
        needs->targets = longer;
        needs->target_room = room;
    }
    needs->targets[needs->target_count++] = rank;
    reading->need->count++;
}

static bool has_target(const struct reading *reading, uint32_t rank)
{
    size_t first = reading->need->first; /* there may be no targets at all yet */
    for (uint32_t i = 0; i < reading->need->count; i++)
        if (reading->needs->targets[first + i] == rank)
            return true;
    return false;
}

/* Items of a rank that sleeps; one that is awake may do anything, which is more. */
static uint32_t wants_of(const struct reading *reading, uint32_t of, enum emu_want_what what,
                         uint32_t with)
{
    if (reading->needs->ranks[of].rest % 2 == 0)
        return 0;
    const struct emu_want *item =
        emu_wants_find(&reading->needs->wants[of], what, with, reading->note.tag);
    return item ? item->count : 0;
}

static bool has_started(const struct reading *reading, const struct emu_ring *ring, uint32_t member)
{
    uint64_t index = reading->note.index;
    uint64_t posted =
        atomic_load_explicit(&emu_ring_entry(ring, index, member)->posted, memory_order_acquire);
    if (posted > index)
        return true;
    uint32_t rank = emu_group_member(&ring->members, member);
    if (reading->needs->ranks[rank].rest % 2 == 0)
        return false;
    const struct emu_want *queued =
        emu_wants_find(&reading->needs->wants[rank], EMU_WANT_CALLS, ring->group, 0);
    return queued && queued->index >= index;
}

/* Awake or stopped: what it has begun inside a call is not done. */
static bool is_up(const struct reading *reading, const struct emu_ring *ring, uint32_t member)
{
    const struct emu_need *need = &reading->needs->ranks[emu_group_member(&ring->members, member)];
    return (need->stand == EMU_STAND_ACTS && need->rest % 2 == 0) ||
           need->stand == EMU_STAND_STOPPED;
}

/* It has announced its last round, before which all chunks that it had to free are free. Where it
 * lent and the call goes in rounds all the same nobody can tell: it has not. */
static bool has_given(const struct reading *reading, const struct emu_ring *ring, uint32_t member)
{
    const struct emu_slot_entry *entry = emu_ring_entry(ring, reading->note.index, member);
    bool lent = atomic_load_explicit(&entry->course, memory_order_acquire) & EMU_COURSE_LENT;
    if (lent && emu_slot_decision(ring, reading->note.index) == EMU_SLOT_MATCHED)
        return false;
    return atomic_load_explicit(&entry->done, memory_order_acquire) > reading->note.index;
}

/* All have started, and those who sleep have done what they could: who is up gives, or, where all
 * have given, decides, folds or works on what is lent. */
static void add_inside(struct reading *reading, const struct emu_ring *ring)
{
    bool all_gave = true;
    for (uint32_t i = 0; i < ring->size; i++)
        all_gave = all_gave && has_given(reading, ring, i);
    for (uint32_t i = 0; i < ring->size; i++)
        if (is_up(reading, ring, i) && (all_gave || !has_given(reading, ring, i)))
            add_target(reading, emu_group_member(&ring->members, i));
}

static bool is_undecided(enum emu_decision decision)
{
    return decision == EMU_SLOT_OPEN || decision == EMU_SLOT_MATCHED || decision == EMU_SLOT_LENT;
}

static void read_collective(struct reading *reading)
{
    struct emu_ring ring = emu_ring_of(reading->segment, reading->note.group);
    struct emu_breach breach = emu_ring_breach(&ring);
    if (breach.broken && breach.index <= reading->note.index) {
        act(reading);
        return;
    }
    for (uint32_t i = 0; i < ring.size; i++)
        if (!has_started(reading, &ring, i))
            add_target(reading, emu_group_member(&ring.members, i));
    if (reading->need->count == 0)
        add_inside(reading, &ring);
    /* After the entries: a decision made meanwhile makes their reading void. */
    if (!is_undecided(emu_slot_decision(&ring, reading->note.index)))
        act(reading);
}

static bool is_untaken(uint64_t word)
{
    enum emu_message_state state = emu_message_state(word);
    return state == EMU_MESSAGE_READY || state == EMU_MESSAGE_OFFERED;
}

/* Messages from `box` to dest with this tag that nobody has taken, numbered below `before`. */
static uint32_t count_messages(const struct emu_outbox *box, uint32_t dest, int32_t tag,
                               uint64_t before)
{
    uint32_t used = atomic_load_explicit(&box->head->used, memory_order_acquire);
    uint32_t count = 0;
    for (uint32_t i = 0; i < used && i < box->message_count; i++) {
        uint64_t word = emu_message_look(&box->messages[i]);
        count += is_untaken(word) && emu_message_dest(word) == dest &&
                 emu_message_tag(&box->messages[i]) == tag && emu_message_sequence(word) < before;
    }
    return count;
}

/* Who could make room in an outbox? The receivers of what lies there; true: there will be room
 * anyway. */
static bool add_drains(struct reading *reading, uint32_t sender)
{
    struct emu_outbox box = emu_outbox_of(reading->segment, sender);
    uint32_t used = atomic_load_explicit(&box.head->used, memory_order_acquire);
    for (uint32_t i = 0; i < used && i < box.message_count; i++) {
        uint64_t word = emu_message_look(&box.messages[i]);
        uint32_t dest = emu_message_dest(word);
        if (!is_untaken(word) || dest >= reading->needs->world ||
            reading->needs->ranks[dest].stand == EMU_STAND_GONE)
            return true;
        const struct emu_want *receive =
            reading->needs->ranks[dest].rest % 2
                ? emu_wants_find(&reading->needs->wants[dest], EMU_WANT_RECVS, sender,
                                 emu_message_tag(&box.messages[i]))
                : NULL;
        if (receive)
            return true;
        if (!has_target(reading, dest))
            add_target(reading, dest);
    }
    return used < box.message_count;
}

static void read_recv(struct reading *reading)
{
    uint32_t from = reading->note.peer;
    struct emu_outbox box = emu_outbox_of(reading->segment, from);
    uint32_t there = count_messages(&box, reading->rank, reading->note.tag, UINT64_MAX);
    bool gone = reading->needs->ranks[from].stand == EMU_STAND_GONE;
    if (gone || reading->wants->stage != EMU_STAGE_NEW || there > reading->wants->ahead) {
        act(reading);
        return;
    }
    add_target(reading, from);
    uint32_t coming = wants_of(reading, from, EMU_WANT_SENDS, reading->rank);
    if (there + coming <= reading->wants->ahead)
        return;
    reading->need->any = true;
    if (add_drains(reading, from))
        act(reading);
}

/* The state of a sent message, by its number; TAKEN where it is not there any more. */
static enum emu_message_state state_of(const struct emu_outbox *box, uint64_t sequence)
{
    for (uint32_t i = 0; i < box->message_count; i++) {
        uint64_t word = emu_message_look(&box->messages[i]);
        if (emu_message_sequence(word) == sequence && emu_message_state(word) != EMU_MESSAGE_FREE)
            return emu_message_state(word);
    }
    return EMU_MESSAGE_TAKEN;
}

static void read_send(struct reading *reading)
{
    uint32_t to = reading->note.peer;
    if (reading->needs->ranks[to].stand == EMU_STAND_GONE) {
        act(reading);
        return;
    }
    if (reading->wants->stage == EMU_STAGE_NEW) {
        reading->need->any = true;
        if (add_drains(reading, reading->rank))
            act(reading);
        return;
    }
    struct emu_outbox box = emu_outbox_of(reading->segment, reading->rank);
    uint64_t sequence = reading->wants->sequence;
    enum emu_message_state state = state_of(&box, sequence);
    uint32_t before = count_messages(&box, to, reading->note.tag, sequence);
    uint32_t receives = wants_of(reading, to, EMU_WANT_RECVS, reading->rank);
    if ((state == EMU_MESSAGE_READY || state == EMU_MESSAGE_OFFERED) && receives <= before)
        add_target(reading, to);
    else
        act(reading);
}

static void read_gate(struct reading *reading)
{
    const struct emu_segment *segment = reading->segment;
    uint64_t step = emu_gate_arrived(segment, reading->rank);
    for (uint32_t other = 0; other < segment->world; other++) {
        if (emu_gate_arrived(segment, other) >= step)
            continue;
        if (reading->needs->ranks[other].stand == EMU_STAND_GONE) {
            act(reading); /* the auditor is told */
            return;
        }
        add_target(reading, other);
    }
}

/* Take the list of one who waits for the same and was read before; false: nobody was, and it is
 * ours to read. What one reader saw holds for all: they all slept when it was seen, or the reading
 * is not steady. */
static bool share(struct reading *reading, struct emu_meeting meeting)
{
    struct emu_needs *needs = reading->needs;
    size_t places = READERS(needs->world);
    size_t place = (meeting.group * UINT64_C(0x9e3779b97f4a7c15) ^ meeting.index) % places;
    for (; needs->readers[place] > 0; place = (place + 1) % places) {
        uint32_t reader = needs->readers[place] - 1;
        const struct emu_need *read = &needs->ranks[reader];
        if (needs->meetings[reader].group != meeting.group ||
            needs->meetings[reader].index != meeting.index)
            continue;
        reading->need->first = read->first;
        reading->need->count = read->count;
        reading->need->stand = read->stand;
        reading->need->shared = reader + 1;
        return true;
    }
    needs->readers[place] = reading->rank + 1;
    needs->meetings[reading->rank] = meeting;
    return false;
}

static void read_meeting(struct reading *reading)
{
    bool gate = reading->need->wait == EMU_WAIT_GATE;
    struct emu_meeting meeting = {AT_THE_GATE, 0};
    if (gate)
        meeting.index = emu_gate_arrived(reading->segment, reading->rank);
    else
        meeting = (struct emu_meeting){reading->note.group, reading->note.index};
    if (share(reading, meeting))
        return;
    if (gate)
        read_gate(reading);
    else
        read_collective(reading);
}

static void read_wait(struct reading *reading)
{
    uint32_t world = reading->segment->world;
    enum emu_board_wait wait = reading->need->wait;
    const struct emu_note *note = &reading->note;
    if (wait == EMU_WAIT_MESSAGE
            ? note->peer >= world
            : wait != EMU_WAIT_GATE && note->group >= reading->segment->roster->group_count)
        act(reading); /* torn */
    else if (wait != EMU_WAIT_MESSAGE)
        read_meeting(reading);
    else if (note->kind == EMU_RECV)
        read_recv(reading);
    else
        read_send(reading);
    if (reading->need->count == 0)
        act(reading);
}

/* First pass: who sleeps, and with what. */
static void read_rank(const struct emu_segment *segment, uint32_t rank, enum emu_presence presence,
                      struct emu_needs *needs)
{
    static const enum emu_stand stands[] = {
        [EMU_PRESENT] = EMU_STAND_ACTS,
        [EMU_PRESENT_STOPPED] = EMU_STAND_STOPPED,
        [EMU_LEAVING] = EMU_STAND_ACTS,
        [EMU_ABSENT] = EMU_STAND_GONE,
    };
    struct emu_need *need = &needs->ranks[rank];
    memset(need, 0, sizeof *need);
    need->stand = stands[presence];
    if (presence == EMU_ABSENT)
        return;
    need->rest = emu_rest_look(segment, rank);
    need->pulse = emu_board_pulse(segment, rank);
    if (need->rest % 2 == 0)
        return;
    emu_rest_wants(segment, rank, &needs->wants[rank]);
    if (presence == EMU_PRESENT && !needs->wants[rank].more)
        need->stand = EMU_STAND_WAITS;
}

static enum emu_status read_need(const struct emu_segment *segment, uint32_t rank,
                                 struct emu_needs *needs)
{
    struct emu_board_facts facts;
    struct reading reading = {
        segment, needs, rank, &needs->ranks[rank], &needs->wants[rank], .no_memory = false};
    emu_words_load(&facts, emu_board_of(segment, rank)->facts, EMU_BOARD_FACT_WORDS);
    reading.note = facts.note;
    reading.need->wait = (enum emu_board_wait)facts.wait;
    reading.need->since_ns = facts.since_ns;
    reading.need->first = needs->target_count;
    read_wait(&reading);
    emu_note_view(segment, rank, &facts.note, &reading.need->call);
    if (reading.need->stand == EMU_STAND_ACTS) {
        if (!reading.need->shared)
            needs->target_count = reading.need->first;
        reading.need->count = 0;
    }
    return reading.no_memory ? EMU_ENOMEM : EMU_OK;
}

static bool is_awake_in_a_wait(const struct emu_segment *segment, uint32_t rank)
{
    struct emu_board_facts facts;
    emu_words_load(&facts, emu_board_of(segment, rank)->facts, 1);
    return facts.state == EMU_BOARD_WAITING;
}

enum emu_status emu_needs_read(const struct emu_segment *segment, const unsigned char *presence,
                               struct emu_needs *needs)
{
    enum emu_status status = EMU_OK;
    memset(needs->readers, 0, READERS(needs->world) * sizeof *needs->readers);
    needs->target_count = 0;
    needs->steady = true;
    needs->busy = false;
    for (uint32_t rank = 0; rank < needs->world; rank++)
        read_rank(segment, rank, (enum emu_presence)presence[rank], needs);
    for (uint32_t rank = 0; rank < needs->world && !status; rank++)
        if (needs->ranks[rank].stand == EMU_STAND_WAITS)
            status = read_need(segment, rank, needs);
    for (uint32_t rank = 0; rank < needs->world; rank++) {
        const struct emu_need *need = &needs->ranks[rank];
        if (need->rest % 2)
            needs->steady = needs->steady && emu_rest_look(segment, rank) == need->rest;
        else if (need->stand == EMU_STAND_ACTS)
            needs->busy = needs->busy || is_awake_in_a_wait(segment, rank);
    }
    return status;
}
