/* How do bytes reach the stage, and from there the outputs? The ways `each`, `last` and `rounds` of
 * seg/ways.h.
 *
 * Every member deposits its input from front to back, one chunk a round, and takes from each round
 * the intersection with what it wants. In place is safe in many rounds too: a member writes an
 * element to its output only after it has deposited the round that held that place of its input
 * (the place in the output is never behind the place in the input), but for all_to_all, which
 * works on a copy then. A call that might have been lent begins with a round that carries nothing.
 */
#include "base/hot.h"
#include "comm/fold.h"
#include "comm/parts.h"
#include "comm/shm.h"
#include "ledger/field.h"
#include "seg/board_words.h"

#include <string.h>

/* Elements that are folded over all members before the next ones: they stay in the nearest cache.
 */
#define FOLD_BLOCK_BYTES 4096

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct shm_stretch shm_round_stretch(const struct shm_collective *own, uint64_t round,
                                     uint64_t start, uint64_t size)
{
    uint64_t chunk = own->group->ring.chunk_bytes;
    uint64_t first = round < own->lead ? 0 : (round - own->lead) * chunk;
    uint64_t last = round < own->lead ? 0 : first + chunk;
    struct shm_stretch s = {start > first ? start : first, at_most(start + size, last), first};
    return s.from < s.to ? s : (struct shm_stretch){first, first, first};
}

static unsigned char *chunk_of(const struct shm_request *request, uint32_t member, uint64_t round)
{
    const struct shm_collective *own = &request->collective;
    return emu_ring_deposit(&own->group->ring, request->note.index, member, round, own->bytes_max);
}

/* Copy the part of [start, start + size) that falls into this round. */
static void deposit_part(const struct shm_request *request, const void *source, uint64_t start,
                         uint64_t size)
{
    const struct shm_collective *own = &request->collective;
    struct shm_stretch part = shm_round_stretch(own, own->rounds_given, start, size);
    if (part.from < part.to)
        memcpy(chunk_of(request, own->group->me, own->rounds_given) + (part.from - part.first),
               (const unsigned char *)source + (part.from - start), part.to - part.from);
}

static void deposit(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_call *call = &request->base.call;
    deposit_part(request, call->input, 0, own->payload);
    if (own->ledger_bytes)
        deposit_part(request, call->ledger, own->ledger_at, own->ledger_bytes);
}

/* Tell the watch of this rank, if there is one. */
static void tell(const struct shm_backend *backend, const struct shm_request *request,
                 enum emu_phase phase, const struct emu_deposit *deposited)
{
    const struct emu_phase_watch *watch = &backend->layer.rank->phases;
    if (watch->entered)
        watch->entered(watch->user, phase, &request->base.call, deposited);
}

EMU_HOT void shm_enter_phase(const struct shm_backend *backend, const struct shm_request *request,
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
    struct shm_stretch part = shm_round_stretch(own, own->rounds_given, 0, own->payload);
    if (part.from >= part.to)
        return (struct emu_deposit){0};
    return (struct emu_deposit){chunk_of(request, own->group->me, own->rounds_given), part.from,
                                part.to - part.from};
}

/* Fold [at, at + bytes) of all inputs, which lie in one round, into output. */
static void fold_deposits(const struct shm_request *request, const struct shm_stretch *block,
                          unsigned char *output)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    uint64_t at = block->from - block->first, bytes = block->to - block->from;
    uint64_t count = bytes / emu_dtype_bytes(call->dtype);
    uint32_t size = own->group->ring.size;
    emu_fold_two(call->dtype, call->op, output, chunk_of(request, 0, own->rounds_taken) + at,
                 chunk_of(request, 1, own->rounds_taken) + at, count);
    for (uint32_t source = 2; source < size; source++)
        emu_fold(call->dtype, call->op, output, chunk_of(request, source, own->rounds_taken) + at,
                 count);
    emu_fold_finish(call->dtype, call->op, output, count, size);
}

/* Fold the stretch of this round; output: where its first byte goes. */
static void fold_stretch(const struct shm_request *request, const struct shm_stretch *stretch,
                         unsigned char *output)
{
    struct shm_stretch block = *stretch;
    for (; block.from < stretch->to; block.from = block.to) {
        block.to = at_most(block.from + FOLD_BLOCK_BYTES, stretch->to);
        fold_deposits(request, &block, output + (block.from - stretch->from));
    }
}

void shm_share_coefficients(const struct shm_request *request, uint64_t *sums, uint64_t count)
{
    if (request->base.call.op != EMU_AVG)
        return;
    uint64_t share = emu_field_inverse(request->collective.group->ring.size);
    for (uint64_t i = 0; i < count; i++)
        sums[i] = emu_field_mul(sums[i], share);
}

/* The coefficients of this round, summed over the members, or the root's. output: their first. */
static void fold_ledger(const struct shm_request *request, const struct shm_stretch *stretch,
                        uint64_t *output)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    uint32_t size = own->group->ring.size;
    bool reduces = emu_kind_reduces(call->kind);
    uint64_t bytes = stretch->to - stretch->from, count = bytes / sizeof(uint64_t);
    uint32_t first = reduces ? 0 : call->root;
    for (uint32_t i = first; i < (reduces ? size : first + 1); i++) {
        const unsigned char *input =
            chunk_of(request, i, own->rounds_taken) + (stretch->from - stretch->first);
        if (i == first)
            memcpy(output, input, bytes);
        else
            emu_fold(EMU_FIELD61, EMU_SUM, output, input, count);
    }
    if (reduces)
        shm_share_coefficients(request, output, count);
}

static struct shm_stretch ledger_stretch(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    return shm_round_stretch(own, own->rounds_taken, own->ledger_at, own->ledger_bytes);
}

EMU_HOT void shm_fold_for_all(const struct shm_backend *backend, struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    unsigned char *result = emu_ring_result(ring, request->note.index);
    struct shm_stretch all = shm_round_stretch(own, 0, 0, own->payload);
    struct shm_stretch ledger = ledger_stretch(request);
    struct emu_rank *rank = backend->layer.rank;
    enum emu_lap lap = emu_handle_enter(rank, EMU_LAP_CHECK);
    shm_checksum_verify_all(backend, request);
    emu_handle_enter(rank, EMU_LAP_FOLD);
    fold_stretch(request, &all, result);
    emu_handle_enter(rank, EMU_LAP_CHECK);
    if (ledger.from < ledger.to)
        fold_ledger(request, &ledger, (uint64_t *)(void *)(result + ledger.from));
    shm_checksum_give_result(request, result);
    emu_handle_enter(rank, lap);
}

/* The bytes of this round that the member takes from a source, as offsets in the source's input. */
static struct shm_stretch wanted(const struct shm_request *request, uint32_t source,
                                 unsigned char **output)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    uint64_t element = emu_dtype_bytes(call->dtype);
    struct emu_part part = emu_part_taken(call, own->group->me, own->group->ring.size, source);
    uint64_t start = part.take.start * element;
    struct shm_stretch s =
        shm_round_stretch(own, own->rounds_taken, start, part.take.count * element);
    if (s.from < s.to)
        *output = (unsigned char *)call->output + part.at * element + (s.from - start);
    return s;
}

static void take_copies(const struct shm_request *request)
{
    uint32_t size = request->collective.group->ring.size;
    for (uint32_t source = 0; source < size; source++) {
        unsigned char *output;
        struct shm_stretch s = wanted(request, source, &output);
        if (s.from < s.to)
            memcpy(output,
                   chunk_of(request, source, request->collective.rounds_taken) + (s.from - s.first),
                   s.to - s.from);
    }
}

/* folded: the result of who came last; NULL: fold here. */
static void take_reduced(const struct shm_request *request, const unsigned char *folded)
{
    unsigned char *output;
    struct shm_stretch s = wanted(request, 0, &output); /* at the same place in every source */
    if (s.from >= s.to)
        return;
    if (folded)
        memcpy(output, folded + s.from, s.to - s.from);
    else
        fold_stretch(request, &s, output);
}

static void take_ledger(const struct shm_request *request, const unsigned char *folded)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_collective *own = &request->collective;
    struct shm_stretch s = ledger_stretch(request);
    if (s.from >= s.to || (call->kind == EMU_REDUCE && own->group->me != call->root))
        return;
    uint64_t *output = call->ledger + (s.from - own->ledger_at) / sizeof(uint64_t);
    if (folded)
        memcpy(output, folded + s.from, s.to - s.from);
    else
        fold_ledger(request, &s, output);
}

EMU_HOT void shm_take_round(struct shm_backend *backend, struct shm_request *request,
                            bool is_folded)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    const unsigned char *folded = is_folded ? emu_ring_result(ring, request->note.index) : NULL;
    struct emu_rank *rank = backend->layer.rank;
    shm_enter_phase(backend, request, EMU_PHASE_COPYOUT);
    enum emu_lap lap = emu_handle_enter(rank, EMU_LAP_CHECK);
    if (own->bytes_max > 0 && is_folded)
        shm_checksum_verify_result(backend, request, folded);
    else if (own->bytes_max > 0)
        shm_checksum_verify(backend, request);
    if (own->bytes_max > 0 && own->rounds_taken >= own->lead) {
        emu_handle_enter(rank, EMU_LAP_FOLD);
        if (emu_kind_reduces(request->base.call.kind))
            take_reduced(request, folded);
        else
            take_copies(request);
        emu_handle_enter(rank, EMU_LAP_CHECK);
        take_ledger(request, folded);
    }
    emu_handle_enter(rank, lap);
    uint64_t round = own->rounds_taken++;
    if (round + 2 < own->rounds) /* nobody needs the chunks of the last two rounds again */
        emu_slot_consume(ring, request->note.index, own->group->me, round);
}

EMU_HOT bool shm_give_round(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    struct emu_rank *rank = backend->layer.rank;
    shm_enter_phase(backend, request, EMU_PHASE_DEPOSIT);
    enum emu_lap lap = emu_handle_enter(rank, EMU_LAP_CHECK);
    if (own->bytes_max > 0) {
        shm_checksum_give(request);
        emu_handle_enter(rank, EMU_LAP_FOLD);
        deposit(request);
    }
    emu_handle_enter(rank, lap);
    if (rank->phases.entered) {
        struct emu_deposit given = deposited(request);
        tell(backend, request, EMU_PHASE_DEPOSIT, &given);
    }
    uint64_t round = own->rounds_given++;
    return emu_slot_arrive(&own->group->ring, request->note.index, own->group->me, round,
                           own->rounds);
}
