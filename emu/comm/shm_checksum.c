/* Are the bytes that arrived those that were sent? One sum for each round of each member, made from
 * the member's own input before a byte of it is written to the stage, and made again by everyone
 * who takes something of it. XXH3 over the parts of the round: the input's, then the coefficients'.
 *
 * Of what is lent one sum for each block (shm_cut.c), made before the member announces, and made
 * again by the worker right before it folds or copies the block: between the two the bytes lie in
 * an arena where others, and the caller itself, may write. What does not fit is told to all
 * members.
 *
 * Covered is, in every way, what a member gives until somebody has it in the cache who writes
 * outputs from it; of `last` also the result that lies in the stage for others. What has been
 * written to an output is not: nobody reads it before its owner has it. A fold that goes wrong is
 * not, either; the copies of replicas and the oracle are compared for that.
 */
#include "base/hash.h"
#include "comm/shm.h"
#include "os/clock.h"
#include "seg/incident_words.h"
#include "seg/loan.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define MIX UINT64_C(0x9e3779b97f4a7c15) /* odd: the second part does not cancel the first */

static uint64_t join(uint64_t input, uint64_t ledger)
{
    return input ^ ledger * MIX;
}

static uint64_t sum_of(const unsigned char *bytes, uint64_t size)
{
    return size ? emu_hash_of(bytes, size).low : 0;
}

void shm_checksum_give(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_call *call = &request->base.call;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t round = own->rounds_given;
    if (!ring->segment->checksums)
        return;
    if (own->lent && round < own->lead)
        shm_checksum_lend(request);
    struct shm_stretch input = shm_round_stretch(own, round, 0, own->payload);
    struct shm_stretch ledger = shm_round_stretch(own, round, own->ledger_at, own->ledger_bytes);
    uint64_t input_sum =
        input.from < input.to
            ? sum_of((const unsigned char *)call->input + input.from, input.to - input.from)
            : 0;
    uint64_t ledger_sum =
        ledger.from < ledger.to
            ? sum_of((const unsigned char *)call->ledger + (ledger.from - own->ledger_at),
                     ledger.to - ledger.from)
            : 0;
    /* relaxed: published with the deposit, by the announcement */
    atomic_store_explicit(
        &emu_ring_entry(ring, request->note.index, own->group->me)->sum[round % 2],
        join(input_sum, ledger_sum), memory_order_relaxed);
}

static bool arrived(const struct shm_request *request, uint32_t source)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_call *call = &request->base.call;
    const struct emu_ring *ring = &own->group->ring;
    uint64_t round = own->rounds_taken, index = request->note.index;
    uint64_t element = call->kind == EMU_BARRIER ? 0 : emu_dtype_bytes(call->dtype);
    uint64_t payload = emu_part_input(call, source, ring->size) * element;
    struct shm_stretch input = shm_round_stretch(own, round, 0, payload);
    struct shm_stretch ledger = shm_round_stretch(own, round, own->ledger_at, own->ledger_bytes);
    const unsigned char *chunk = emu_ring_deposit(ring, index, source, round, own->bytes_max);
    uint64_t sum = join(sum_of(chunk + (input.from - input.first), input.to - input.from),
                        sum_of(chunk + (ledger.from - ledger.first), ledger.to - ledger.from));
    /* relaxed: seen with the deposit, by the look at the counter */
    return sum == atomic_load_explicit(&emu_ring_entry(ring, index, source)->sum[round % 2],
                                       memory_order_relaxed);
}

/* Bytes of a source, from `first` on, are not what they were. Once a call, by each who sees it. */
static void report(const struct shm_backend *backend, struct shm_request *request, uint32_t source,
                   uint64_t first)
{
    struct shm_collective *own = &request->collective;
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_CORRUPT,
        .status = EMU_ECORRUPT,
        .rank = emu_group_member(&own->group->ring.members, source),
        .group = own->group->ring.group,
        .caller = backend->id,
        .index = request->note.index,
        .enabled_ns = emu_clock_ns(),
    };
    emu_note_view(backend->segment, backend->id, &request->note, &incident.call);
    snprintf(incident.text, sizeof incident.text, "bytes from %" PRIu64 " on", first);
    if (!own->corrupt)
        emu_incident_append(backend->segment, &incident);
    own->corrupt = true;
}

void shm_checksum_verify(const struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    if (!backend->segment->checksums || request->base.call.kind == EMU_BARRIER ||
        own->rounds_taken < own->lead)
        return;
    for (uint32_t source = 0; source < own->group->ring.size; source++) {
        bool taken =
            emu_kind_reduces(request->base.call.kind)
                ? emu_part_receives(&request->base.call, own->group->me)
                : emu_part_taken(&request->base.call, own->group->me, own->group->ring.size, source)
                          .take.count > 0;
        if (taken && !arrived(request, source))
            report(backend, request, source,
                   (own->rounds_taken - own->lead) * own->group->ring.chunk_bytes);
    }
}

void shm_checksum_verify_all(const struct shm_backend *backend, struct shm_request *request)
{
    const struct emu_ring *ring = &request->collective.group->ring;
    struct emu_slot *slot = emu_ring_slot(ring, request->note.index);
    for (uint32_t source = 0; backend->segment->checksums && source < ring->size; source++)
        if (!arrived(request, source))
            report(backend, request, source, 0);
    /* relaxed: published by the judgement, as the result is */
    atomic_store_explicit(&slot->corrupt, request->collective.corrupt, memory_order_relaxed);
    atomic_store_explicit(&slot->folder, request->collective.group->me, memory_order_relaxed);
}

void shm_checksum_give_result(const struct shm_request *request, const unsigned char *result)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    if (ring->segment->checksums)
        /* relaxed: published by the judgement */
        atomic_store_explicit(&emu_ring_slot(ring, request->note.index)->sum,
                              sum_of(result, own->bytes_max), memory_order_relaxed);
}

void shm_checksum_verify_result(const struct shm_backend *backend, struct shm_request *request,
                                const unsigned char *result)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    const struct emu_slot *slot = emu_ring_slot(ring, request->note.index);
    if (!backend->segment->checksums)
        return;
    /* relaxed: seen with the judgement */
    if (atomic_load_explicit(&slot->corrupt, memory_order_relaxed))
        own->corrupt = true;
    else if (sum_of(result, own->bytes_max) !=
             atomic_load_explicit(&slot->sum, memory_order_relaxed))
        report(backend, request, atomic_load_explicit(&slot->folder, memory_order_relaxed), 0);
}

/* Where the sums of what a member lent lie: its deposit of the round that carries nothing. */
static uint64_t *lent_sums(const struct shm_request *request, const struct shm_cut *cut,
                           uint32_t member)
{
    return (uint64_t *)(void *)emu_ring_deposit(&request->collective.group->ring,
                                                request->note.index, member, 0,
                                                (cut->sums + cut->ledger_sums) * sizeof(uint64_t));
}

static void sum_blocks(const void *bytes, uint64_t size, uint64_t sum_block, uint64_t *sums)
{
    const unsigned char *from = bytes;
    for (uint64_t at = 0; at < size; at += sum_block)
        *sums++ = sum_of(from + at, size - at < sum_block ? size - at : sum_block);
}

void shm_checksum_lend(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    const struct emu_call *call = &request->base.call;
    struct shm_cut cut = shm_cut_of(own);
    uint64_t *sums = lent_sums(request, &cut, own->group->me);
    sum_blocks(call->input, own->payload, cut.sum_block, sums);
    if (emu_kind_reduces(call->kind) || own->group->me == call->root)
        sum_blocks(call->ledger, own->ledger_bytes, cut.sum_block, sums + cut.sums);
}

void shm_checksum_verify_lent(const struct shm_backend *backend, struct shm_request *request,
                              const struct shm_cut *cut, const struct shm_lent_block *block)
{
    const struct emu_ring *ring = &request->collective.group->ring;
    uint64_t index = request->note.index;
    const uint64_t *sums = lent_sums(request, cut, block->source);
    const unsigned char *bytes = block->is_ledger ? emu_loan_ledger(ring, index, block->source)
                                                  : emu_loan_input(ring, index, block->source);
    uint64_t place = block->at / cut->sum_block + (block->is_ledger ? cut->sums : 0);
    if (sum_of(bytes + block->at, block->bytes) == sums[place])
        return;
    report(backend, request, block->source, block->at);
    /* relaxed: published with the outputs of the unit, by its end */
    atomic_store_explicit(&emu_ring_slot(ring, index)->corrupt, 1, memory_order_relaxed);
}

void shm_checksum_end(struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    const struct emu_ring *ring = &own->group->ring;
    /* relaxed: seen with the end of the call */
    if (atomic_load_explicit(&emu_ring_slot(ring, request->note.index)->corrupt,
                             memory_order_relaxed))
        own->corrupt = true;
}
