/* One collective through its slot. See seg/slot.h for the protocol and comm/parts.h for who takes
 * what.
 *
 * Every member deposits its input from front to back, one chunk a round, and takes from each round
 * the intersection with what it wants. In place is safe in many rounds too: a member writes an
 * element to its output only after it has deposited the round that held that place of its input
 * (the place in the output is never behind the place in the input), but for all_to_all, which
 * works on a copy then.
 */
#include "comm/fold.h"
#include "comm/parts.h"
#include "comm/shm.h"
#include "ledger/field.h"
#include "seg/board_words.h"

#include <stdlib.h>
#include <string.h>

/* Elements that are folded over all members before the next ones: they stay in the nearest cache.
 */
#define FOLD_BLOCK_BYTES 4096

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct shm_group *group_of(struct shm_backend *backend, uint32_t id)
{
    struct shm_group *group = &backend->groups[emu_roster_family_of(backend->segment->roster, id)];
    if (!group->known) {
        group->ring = emu_ring_of(backend->segment, id);
        group->me = (uint32_t)emu_group_index(&group->ring.members, backend->id);
        group->known = true;
    }
    return group;
}

static enum emu_status copy_input(struct shm_request *request)
{
    struct emu_call *call = &request->base.call;
    struct shm_collective *own = &request->collective;
    if (call->kind != EMU_ALL_TO_ALL || call->input != call->output || own->rounds == 1)
        return EMU_OK;
    own->copy = malloc(own->payload);
    if (!own->copy)
        return EMU_ENOMEM;
    memcpy(own->copy, call->input, own->payload);
    call->input = own->copy;
    return EMU_OK;
}

/* Coefficients follow the payload at the same place on every member. */
static void add_ledger(const struct emu_call *call, struct shm_collective *own)
{
    if (!call->ledger || !(emu_kind_reduces(call->kind) || call->kind == EMU_BROADCAST))
        return;
    own->ledger_at = (own->bytes_max + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    own->bytes_max = own->ledger_at + call->ledger_count * sizeof(uint64_t);
    own->bytes = own->bytes_max;
}

enum emu_status shm_collective_prepare(struct shm_backend *backend, struct shm_request *request)
{
    struct emu_call *call = &request->base.call;
    struct shm_collective *own = &request->collective;
    struct shm_group *group = group_of(backend, call->group);
    uint64_t element = call->kind == EMU_BARRIER ? 0 : emu_dtype_bytes(call->dtype);
    own->group = group;
    own->payload = emu_part_input(call, group->me, group->ring.size) * element;
    own->bytes = own->payload;
    own->bytes_max = emu_part_input_max(call, group->ring.size) * element;
    add_ledger(call, own);
    own->rounds = (own->bytes_max + group->ring.chunk_bytes - 1) / group->ring.chunk_bytes;
    if (own->rounds == 0)
        own->rounds = 1;
    enum emu_status status = copy_input(request);
    if (!status)
        emu_note_of(call, group->next_index++, &request->note);
    return status;
}

void shm_collective_release(struct shm_request *request)
{
    free(request->collective.copy);
    request->collective.copy = NULL;
}

/* Copy the part of [start, start + size) that falls into this round. */
static void deposit_part(const struct shm_request *request, const void *source, uint64_t start,
                         uint64_t size)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t round_start = own->rounds_given * ring->chunk_bytes;
    uint64_t from = start > round_start ? start : round_start;
    uint64_t to = at_most(start + size, round_start + ring->chunk_bytes);
    if (from >= to)
        return;
    unsigned char *chunk = emu_ring_deposit(ring, request->note.index, own->group->me,
                                            own->rounds_given, own->bytes_max);
    memcpy(chunk + (from - round_start), (const unsigned char *)source + (from - start), to - from);
}

static void deposit(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_call *call = &request->base.call;
    deposit_part(request, call->input, 0, own->payload);
    if (own->bytes > own->payload)
        deposit_part(request, call->ledger, own->ledger_at, call->ledger_count * sizeof(uint64_t));
}

/* Tell the watch of this rank, if there is one. */
static void tell(const struct shm_backend *backend, const struct shm_request *request,
                 enum emu_phase phase, const struct emu_deposit *deposited)
{
    const struct emu_phase_watch *watch = &backend->layer.rank->phases;
    if (watch->entered)
        watch->entered(watch->user, phase, &request->base.call, deposited);
}

static void enter(const struct shm_backend *backend, const struct shm_request *request,
                  enum emu_phase phase)
{
    emu_board_set_phase(backend->segment, backend->id, phase);
    if (phase != EMU_PHASE_DEPOSIT) /* that one is told once the bytes are there */
        tell(backend, request, phase, &(struct emu_deposit){0});
}

/* What this round has deposited of the input. */
static struct emu_deposit deposited(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t start = own->rounds_given * ring->chunk_bytes;
    uint64_t end = at_most(own->payload, start + ring->chunk_bytes);
    if (start >= end)
        return (struct emu_deposit){0};
    return (struct emu_deposit){emu_ring_deposit(ring, request->note.index, own->group->me,
                                                 own->rounds_given, own->bytes_max),
                                start, end - start};
}

static void give_round(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    struct emu_rank *rank = backend->layer.rank;
    enter(backend, request, EMU_PHASE_DEPOSIT);
    enum emu_lap lap = emu_rank_enter(rank, EMU_LAP_CHECK);
    shm_checksum_give(request);
    emu_rank_enter(rank, EMU_LAP_FOLD);
    deposit(request);
    emu_rank_enter(rank, lap);
    struct emu_deposit given = deposited(request);
    tell(backend, request, EMU_PHASE_DEPOSIT, &given);
    emu_slot_announce(&own->group->ring, request->note.index, own->group->me, own->rounds_given,
                      own->rounds);
    own->rounds_given++;
}

/* The bytes of this round that the member takes from a source, as offsets in the source's input. */
struct window {
    uint64_t from, to;
    unsigned char *output;
    const unsigned char *input; /* where the byte `from` lies in the stage */
};

static struct window window_of(const struct shm_request *request, uint32_t source)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t element = emu_dtype_bytes(call->dtype);
    struct emu_part part = emu_part_taken(call, own->group->me, ring->size, source);
    uint64_t round_start = own->rounds_taken * ring->chunk_bytes;
    uint64_t start = part.take.start * element;
    uint64_t end = start + part.take.count * element;
    struct window window = {
        .from = start > round_start ? start : round_start,
        .to = at_most(end, round_start + ring->chunk_bytes),
    };
    if (window.from >= window.to)
        return (struct window){0};
    window.output = (unsigned char *)call->output + part.at * element + (window.from - start);
    window.input =
        emu_ring_deposit(ring, request->note.index, source, own->rounds_taken, own->bytes_max) +
        (window.from - round_start);
    return window;
}

static void take_copies(const struct shm_request *request)
{
    uint32_t size = request->collective.group->ring.size;
    for (uint32_t source = 0; source < size; source++) {
        struct window window = window_of(request, source);
        if (window.from < window.to)
            memcpy(window.output, window.input, window.to - window.from);
    }
}

static void fold_block(const struct shm_request *request, const struct window *first, uint64_t at,
                       uint64_t bytes)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t count = bytes / emu_dtype_bytes(call->dtype);
    uint64_t in_round = first->from - own->rounds_taken * ring->chunk_bytes + at;
    memcpy(first->output + at, first->input + at, bytes);
    for (uint32_t source = 1; source < ring->size; source++)
        emu_fold(
            call->dtype, call->op, first->output + at,
            emu_ring_deposit(ring, request->note.index, source, own->rounds_taken, own->bytes_max) +
                in_round,
            count);
    emu_fold_finish(call->dtype, call->op, first->output + at, count, ring->size);
}

static void take_folded(const struct shm_request *request)
{
    struct window first = window_of(request, 0); /* at the same place in every source */
    for (uint64_t at = 0; at < first.to - first.from; at += FOLD_BLOCK_BYTES)
        fold_block(request, &first, at, at_most(FOLD_BLOCK_BYTES, first.to - first.from - at));
}

/* The coefficients of this round: summed over the members, or the root's. */
static void take_ledger(const struct shm_request *request)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t round_start = own->rounds_taken * ring->chunk_bytes;
    uint64_t from = own->ledger_at > round_start ? own->ledger_at : round_start;
    uint64_t to = at_most(own->bytes_max, round_start + ring->chunk_bytes);
    bool reduces = emu_kind_reduces(call->kind);
    bool takes = call->kind != EMU_REDUCE || own->group->me == call->root;
    if (own->bytes == own->payload || from >= to || !takes)
        return;
    uint64_t *output = call->ledger + (from - own->ledger_at) / sizeof(uint64_t);
    uint64_t count = (to - from) / sizeof(uint64_t);
    uint32_t first = reduces ? 0 : call->root;
    for (uint32_t i = first; i < (reduces ? ring->size : first + 1); i++) {
        const unsigned char *input =
            emu_ring_deposit(ring, request->note.index, i, own->rounds_taken, own->bytes_max) +
            (from - round_start);
        if (i == first)
            memcpy(output, input, to - from);
        else
            emu_fold(EMU_FIELD61, EMU_SUM, output, input, count);
    }
    uint64_t share = emu_field_inverse(ring->size);
    for (uint64_t i = 0; reduces && call->op == EMU_AVG && i < count; i++)
        output[i] = emu_field_mul(output[i], share);
}

static void take_round(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    struct emu_rank *rank = backend->layer.rank;
    enter(backend, request, EMU_PHASE_COPYOUT);
    enum emu_lap lap = emu_rank_enter(rank, EMU_LAP_CHECK);
    shm_checksum_verify(backend, request);
    if (request->base.call.kind != EMU_BARRIER) {
        emu_rank_enter(rank, EMU_LAP_FOLD);
        if (emu_kind_reduces(request->base.call.kind))
            take_folded(request);
        else
            take_copies(request);
        emu_rank_enter(rank, EMU_LAP_CHECK);
        take_ledger(request);
    }
    emu_rank_enter(rank, lap);
    uint64_t round = own->rounds_taken++;
    if (round + 2 < own->rounds) /* nobody needs the chunks of the last two rounds again */
        emu_slot_consume(&own->group->ring, request->note.index, round);
}

static enum emu_status status_of(enum emu_decision cause)
{
    return cause == EMU_SLOT_MISMATCH ? EMU_EMISMATCH : EMU_EPEER;
}

/* Sign and deposit, if the turn has come. */
static bool post(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_group *group = request->collective.group;
    uint64_t index = request->note.index;
    if (index != group->next_posted)
        return false;
    struct emu_breach breach = emu_ring_breach(&group->ring);
    bool broken = breach.broken && breach.index <= index;
    bool is_free = emu_slot_free(&group->ring, index);
    if (!broken && !is_free)
        return false;
    group->next_posted++;
    if (broken && (breach.index < index || !is_free)) {
        emu_ring_meet_breach(&group->ring, index);
        shm_finish(request, status_of(breach.cause));
        return true;
    }
    /* At the breach itself we sign all the same: the others shall see what was asked for. */
    enter(backend, request, EMU_PHASE_SIGNATURE);
    emu_slot_sign(&group->ring, index, group->me, &request->note, request->collective.rounds);
    give_round(backend, request);
    return true;
}

/* Take and give what can be now. */
static bool move_rounds(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t index = request->note.index;
    if (own->rounds_taken < own->rounds_given &&
        emu_slot_deposited(ring, index, own->rounds_taken)) {
        take_round(backend, request);
        return true;
    }
    if (own->rounds_given < own->rounds &&
        (own->rounds_given < 2 || emu_slot_consumed(ring, index, own->rounds_given - 2))) {
        give_round(backend, request);
        return true;
    }
    return false;
}

/* Nothing moves: is that for ever? */
static void look_for_breach(const struct shm_request *request)
{
    const struct emu_ring *ring = &request->collective.group->ring;
    struct emu_breach breach = emu_ring_breach(ring);
    if (breach.broken && breach.index <= request->note.index)
        emu_ring_meet_breach(ring, request->note.index);
}

bool shm_collective_step(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    bool moved = own->rounds_given == 0;
    if (moved && (!post(backend, request) || request->done))
        return request->done;
    for (bool asked = false;; asked = true) {
        enum emu_decision decision = emu_slot_decision(ring, request->note.index);
        if (decision == EMU_SLOT_MISMATCH || decision == EMU_SLOT_PEER) {
            shm_finish(request, status_of(decision));
            return true;
        }
        while (decision != EMU_SLOT_OPEN && move_rounds(backend, request))
            moved = true;
        if (decision == EMU_SLOT_COMPLETE && own->rounds_taken == own->rounds) {
            emu_slot_depart(ring, request->note.index);
            shm_finish(request, own->corrupt ? EMU_ECORRUPT : EMU_OK);
            return true;
        }
        if (asked)
            return moved;
        look_for_breach(request);
    }
}

bool shm_collective_owes(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    return own->rounds_given == 0 || own->rounds > 1;
}
