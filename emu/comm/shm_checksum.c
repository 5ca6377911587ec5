/* Are the bytes that arrived those that were sent? One sum for each round of each member, made from
 * the member's own input before a byte of it is written to the stage, and made again by everyone
 * who takes something of it. XXH3 over the parts of the round: the input's, then the coefficients'.
 */
#include "base/hash.h"
#include "comm/shm.h"
#include "os/clock.h"
#include "seg/incident_words.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define MIX UINT64_C(0x9e3779b97f4a7c15) /* odd: the second part does not cancel the first */

static uint64_t join(uint64_t input, uint64_t ledger)
{
    return input ^ ledger * MIX;
}

static uint64_t ledger_bytes(const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    return own->bytes > own->payload ? request->base.call.ledger_count * sizeof(uint64_t) : 0;
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
    if (!ring->segment->checksums)
        return;
    uint64_t round = own->rounds_given;
    struct shm_stretch input = shm_round_stretch(own, round, 0, own->payload);
    struct shm_stretch ledger =
        shm_round_stretch(own, round, own->ledger_at, ledger_bytes(request));
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
    struct shm_stretch ledger =
        shm_round_stretch(own, round, own->ledger_at, ledger_bytes(request));
    const unsigned char *chunk = emu_ring_deposit(ring, index, source, round, own->bytes_max);
    uint64_t sum = join(sum_of(chunk + (input.from - input.first), input.to - input.from),
                        sum_of(chunk + (ledger.from - ledger.first), ledger.to - ledger.from));
    /* relaxed: seen with the deposit, by the look at the counter */
    return sum == atomic_load_explicit(&emu_ring_entry(ring, index, source)->sum[round % 2],
                                       memory_order_relaxed);
}

static void report(const struct shm_backend *backend, const struct shm_request *request,
                   uint32_t source)
{
    const struct shm_collective *own = &request->collective;
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
    snprintf(incident.text, sizeof incident.text, "bytes from %" PRIu64 " on",
             own->rounds_taken * own->group->ring.chunk_bytes);
    emu_incident_append(backend->segment, &incident);
}

void shm_checksum_verify(const struct shm_backend *backend, struct shm_request *request)
{
    struct shm_collective *own = &request->collective;
    if (!backend->segment->checksums || request->base.call.kind == EMU_BARRIER)
        return;
    for (uint32_t source = 0; source < own->group->ring.size; source++) {
        bool taken =
            emu_kind_reduces(request->base.call.kind)
                ? emu_part_receives(&request->base.call, own->group->me)
                : emu_part_taken(&request->base.call, own->group->me, own->group->ring.size, source)
                          .take.count > 0;
        if (!taken || arrived(request, source))
            continue;
        if (!own->corrupt)
            report(backend, request, source);
        own->corrupt = true;
    }
}

void shm_checksum_verify_all(const struct shm_backend *backend, const struct shm_request *request)
{
    const struct emu_ring *ring = &request->collective.group->ring;
    struct emu_slot *slot = emu_ring_slot(ring, request->note.index);
    bool corrupt = false;
    for (uint32_t source = 0; backend->segment->checksums && source < ring->size; source++) {
        if (arrived(request, source))
            continue;
        if (!corrupt)
            report(backend, request, source);
        corrupt = true;
    }
    /* relaxed: published by the judgement, as the result is */
    atomic_store_explicit(&slot->corrupt, corrupt, memory_order_relaxed);
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
    if (atomic_load_explicit(&slot->corrupt, memory_order_relaxed)) {
        own->corrupt = true;
    } else if (sum_of(result, own->bytes_max) !=
               atomic_load_explicit(&slot->sum, memory_order_relaxed)) {
        report(backend, request, atomic_load_explicit(&slot->folder, memory_order_relaxed));
        own->corrupt = true;
    }
}
