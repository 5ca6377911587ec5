/* One collective through its slot. See seg/slot.h for the protocol and seg/ways.h for the ways that
 * bytes go.
 */
#include "base/hot.h"
#include "comm/parts.h"
#include "comm/shm.h"
#include "seg/board_words.h"
#include "seg/loan.h"

#include <stdlib.h>
#include <string.h>

/* Rank r is bound to core r modulo their number, where it is bound at all. */
static void find_leaders(struct shm_group *group, uint32_t cores)
{
    const struct emu_ring *ring = &group->ring;
    uint32_t most = cores < SHM_LEADERS_MAX ? cores : SHM_LEADERS_MAX;
    uint64_t taken = 0;
    for (uint32_t i = 0; i < ring->size && group->leader_count < most; i++) {
        uint32_t core = ring->size <= most ? i : emu_group_member(&ring->members, i) % most;
        if (taken >> core & 1)
            continue;
        taken |= UINT64_C(1) << core;
        group->leads = group->leads || i == group->me;
        group->leaders[group->leader_count++] = i;
    }
}

struct shm_group *shm_group_of(struct shm_backend *backend, uint32_t id)
{
    struct shm_group *group = &backend->groups[emu_roster_family_of(backend->segment->roster, id)];
    if (!group->known) {
        group->ring = emu_ring_of(backend->segment, id);
        group->me = (uint32_t)emu_group_index(&group->ring.members, backend->id);
        find_leaders(group, backend->segment->ways.cores);
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
    if (!call->ledger || call->ledger_count == 0 ||
        !(emu_kind_reduces(call->kind) || call->kind == EMU_BROADCAST))
        return;
    own->ledger_bytes = call->ledger_count * sizeof(uint64_t);
    own->ledger_at =
        (own->payload_max + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    own->bytes_max = own->ledger_at + own->ledger_bytes;
    own->bytes = own->bytes_max;
}

EMU_HOT enum emu_status shm_collective_prepare(struct shm_backend *backend,
                                               struct shm_request *request)
{
    struct emu_call *call = &request->base.call;
    struct shm_collective *own = &request->collective;
    struct shm_group *group = own->group;
    if (call->kind != EMU_BARRIER) {
        uint64_t element = emu_dtype_bytes(call->dtype);
        own->payload = emu_part_input(call, group->me, group->ring.size) * element;
        own->bytes = own->payload;
        own->payload_max = emu_part_input_max(call, group->ring.size) * element;
        own->bytes_max = own->payload_max;
        add_ledger(call, own);
    }
    own->rounds = 1;
    if (own->bytes_max > group->ring.chunk_bytes)
        own->rounds = (own->bytes_max + group->ring.chunk_bytes - 1) / group->ring.chunk_bytes;
    own->lead = shm_may_lend(backend, request);
    own->rounds += own->lead;
    own->works = own->lead && group->leads;
    own->last_folds = own->rounds == 1 && own->bytes_max > 0 && emu_kind_reduces(call->kind) &&
                      call->kind != EMU_REDUCE &&
                      emu_ways_last_folds(&backend->segment->ways, group->ring.size);
    if (own->lead && !shm_has_bench(backend))
        return EMU_ENOMEM;
    enum emu_status status = copy_input(request);
    if (!status)
        request->note.index = group->next_index++;
    return status;
}

void shm_collective_release(struct shm_request *request)
{
    if (!request->collective.copy)
        return; /* the library lies in pages of its own */
    free(request->collective.copy);
    request->collective.copy = NULL;
}

static enum emu_status status_of(enum emu_decision cause)
{
    return cause == EMU_SLOT_MISMATCH ? EMU_EMISMATCH : EMU_EPEER;
}

static bool another_leader_waits(const struct shm_request *request)
{
    const struct shm_group *group = request->collective.group;
    for (uint32_t i = 0; i < group->leader_count; i++)
        if (group->leaders[i] != group->me &&
            emu_loan_waits(&group->ring, request->note.index, group->leaders[i]))
            return true;
    return false;
}

/* We came last: everything that anybody gives is there. */
static EMU_HOT void conclude(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t index = request->note.index;
    bool folds = own->last_folds && emu_slot_agrees(ring, index);
    if (folds)
        shm_fold_for_all(backend, request);
    /* Who only waits may be asleep when the work begins, but is sure to do it. */
    if (own->lead && !another_leader_waits(request))
        own->works = true;
    emu_slot_judge(ring, index, own->group->me, folds);
}

static void give_round(struct shm_backend *backend, struct shm_request *request)
{
    if (shm_give_round(backend, request))
        conclude(backend, request);
}

static void sign(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    struct emu_offer offer = {.rounds = own->rounds};
    own->lent = own->lead && shm_offer(backend, request, &offer);
    offer.lent = own->lent;
    emu_slot_sign(&own->group->ring, request->note.index, own->group->me, &request->note, &offer);
    if (own->awaited && own->group->leads)
        emu_loan_wait(&own->group->ring, request->note.index, own->group->me);
}

void shm_collective_await(struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    bool signed_already = own->rounds_given > 0;
    own->awaited = own->lead > 0;
    if (own->awaited && own->group->leads && signed_already && !request->done)
        emu_loan_wait(&own->group->ring, request->note.index, own->group->me);
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
    shm_enter_phase(backend, request, EMU_PHASE_SIGNATURE);
    sign(backend, request);
    give_round(backend, request);
    return true;
}

/* Take and give what can be now. */
static bool move_rounds(struct shm_backend *backend, struct shm_request *request,
                        enum emu_decision decision)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t index = request->note.index;
    if (own->rounds_taken < own->rounds_given &&
        emu_slot_deposited(ring, index, own->rounds_taken)) {
        shm_take_round(backend, request, decision == EMU_SLOT_FOLDED);
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

/* The call has ended well, and nothing is left to take. */
static bool is_over(const struct shm_collective *own, enum emu_decision decision)
{
    bool ended = decision == EMU_SLOT_COMPLETE || decision == EMU_SLOT_FOLDED;
    return ended && (own->rounds_taken == own->rounds || shm_went_lent(own));
}

/* Data can move: units, or rounds. */
static bool move(struct shm_backend *backend, struct shm_request *request,
                 enum emu_decision decision)
{
    struct shm_collective *own = &request->collective;
    if (decision == EMU_SLOT_LENT) {
        bool works = own->works;
        if (works)
            shm_lent_work(backend, request);
        return works;
    }
    bool moved = false;
    while (decision != EMU_SLOT_OPEN && !is_over(own, decision) &&
           move_rounds(backend, request, decision))
        moved = true;
    return moved;
}

EMU_HOT bool shm_collective_step(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t index = request->note.index;
    bool moved = own->rounds_given == 0;
    if (moved && (!post(backend, request) || request->done))
        return request->done;
    for (bool asked = false;; asked = true) {
        enum emu_decision decision = emu_slot_decision(ring, index);
        if (decision == EMU_SLOT_MISMATCH || decision == EMU_SLOT_PEER) {
            if (own->lent && !emu_loan_is_quiet(ring, index))
                return moved; /* somebody still writes to our output */
            shm_finish(request, status_of(decision));
            return true;
        }
        if (move(backend, request, decision)) {
            moved = true;
            decision = emu_slot_decision(ring, index);
        }
        if (is_over(own, decision)) {
            shm_lent_end(backend, request);
            emu_slot_depart(ring, index, own->group->me);
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
