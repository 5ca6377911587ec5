/* Units of work on lent buffers. See seg/loan.h for the protocol and comm/parts.h for who takes
 * what.
 *
 * A kind that reduces is cut into ranges of elements: a unit folds its range of all inputs, in the
 * order of group ranks, in a buffer that stays in the cache, and writes it to every output that
 * wants some of it. Other kinds are cut into ranges of each input that is given: a unit copies its
 * range to all who take some of it. All inputs of a range are read before an output is written, so
 * a member may lend one buffer for both where it wants its own place again.
 */
#include "comm/fold.h"
#include "comm/nontemporal.h"
#include "comm/parts.h"
#include "comm/shm.h"
#include "seg/loan.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_LEAST 2048
#define BLOCK_BYTES 4096
#define UNITS_PER_LEADER 4

struct work {
    struct shm_backend *backend;
    const struct emu_call *call;
    const struct emu_ring *ring;
    uint64_t index;
    uint64_t element;        /* bytes */
    uint64_t unit;           /* elements */
    uint64_t per_source;     /* units */
    uint32_t first, sources; /* members whose inputs are cut */
    bool streams;
};

bool shm_may_lend(const struct shm_backend *backend, const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    return !backend->segment->checksums && !own->carries &&
           request->base.call.kind != EMU_BARRIER &&
           emu_ways_lend(&backend->segment->ways, own->group->ring.size, own->bytes_max);
}

/* Offset of `size` bytes that every rank can reach; 0: they are elsewhere. */
static uint64_t shared_at(const struct emu_segment *segment, const void *bytes, uint64_t size)
{
    uint64_t start = (uintptr_t)bytes - (uintptr_t)segment->base;
    bool inside = (uintptr_t)bytes >= (uintptr_t)segment->base && start >= segment->arenas &&
                  start <= segment->bytes && size <= segment->bytes - start;
    return inside ? start : 0;
}

/* An output may lie over its member's input only where a unit writes what it has just read. */
static bool may_overlap(const struct emu_call *call, uint32_t me, uint32_t size,
                        const struct emu_offer *offer)
{
    struct emu_part own = emu_part_taken(call, me, size, me);
    uint64_t place = (own.at - own.take.start) * emu_dtype_bytes(call->dtype);
    if (emu_kind_reduces(call->kind))
        return call->kind != EMU_REDUCE_SCATTER && offer->input == offer->output;
    return (call->kind == EMU_ALL_GATHER || call->kind == EMU_GATHER) &&
           offer->input == offer->output + place;
}

bool shm_offer(const struct shm_backend *backend, const struct shm_request *request,
               struct emu_offer *offer)
{
    const struct emu_call *call = &request->base.call;
    const struct shm_group *group = request->collective.group;
    uint32_t size = group->ring.size;
    uint64_t element = emu_dtype_bytes(call->dtype), in = request->collective.payload, out = 0;
    if (backend->layer.rank->phases.entered) /* it is shown deposits */
        return false;
    if (!emu_part_output(call, group->me, size, &out))
        return false;
    out *= element;
    if (in > 0 && !(offer->input = shared_at(backend->segment, call->input, in)))
        return false;
    if (out > 0 && !(offer->output = shared_at(backend->segment, call->output, out)))
        return false;
    bool apart = in == 0 || out == 0 || offer->input + in <= offer->output ||
                 offer->output + out <= offer->input;
    return apart || may_overlap(call, group->me, size, offer);
}

static uint64_t units_of(uint64_t elements, uint64_t unit)
{
    return (elements + unit - 1) / unit;
}

/* Elements of a unit: enough units for all leaders, none too small or too large for the cache. */
static uint64_t unit_of(const struct work *work, const struct shm_collective *own)
{
    uint64_t most = work->backend->segment->ways.unit_bytes;
    uint64_t bytes = own->bytes_max / ((uint64_t)own->group->leader_count * UNITS_PER_LEADER);
    bytes = bytes < UNIT_LEAST ? UNIT_LEAST : bytes;
    bytes = (bytes < most ? bytes : most) / EMU_LINE * EMU_LINE;
    return bytes / work->element;
}

/* Are the outputs larger than what a cache would keep? */
static bool outgrows_cache(const struct work *work, const struct shm_collective *own)
{
    uint64_t bytes = own->bytes_max;
    for (uint32_t i = 0; i < work->ring->size && bytes < work->backend->segment->ways.stream_from;
         i++) {
        uint64_t count;
        if (emu_part_output(work->call, i, work->ring->size, &count))
            bytes += count * work->element;
    }
    return bytes >= work->backend->segment->ways.stream_from;
}

static struct work work_of(struct shm_backend *backend, const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    struct work work = {.backend = backend,
                        .call = &request->base.call,
                        .ring = &own->group->ring,
                        .index = request->note.index,
                        .element = emu_dtype_bytes(request->base.call.dtype),
                        .sources = 1};
    if (work.call->kind == EMU_BROADCAST || work.call->kind == EMU_SCATTER)
        work.first = work.call->root;
    else if (!emu_kind_reduces(work.call->kind))
        work.sources = work.ring->size;
    work.unit = unit_of(&work, own);
    work.per_source = units_of(own->bytes_max / work.element, work.unit);
    work.streams = outgrows_cache(&work, own);
    return work;
}

static void put(const struct work *work, void *to, const void *from, uint64_t bytes)
{
    if (work->streams)
        emu_nontemporal_copy(to, from, bytes);
    else if (to != from)
        memcpy(to, from, bytes);
}

/* Everybody takes all of it, at the same place. */
static void deliver_to_all(const struct work *work, const struct emu_slice *range,
                           const unsigned char *bytes)
{
    for (uint32_t i = 0; i < work->ring->size; i++)
        put(work, emu_loan_output(work->ring, work->index, i) + range->start * work->element, bytes,
            range->count * work->element);
}

/* Write a range of a source, which lies at `bytes`, wherever somebody takes some of it. */
static void deliver(const struct work *work, uint32_t source, const struct emu_slice *range,
                    const unsigned char *bytes)
{
    uint64_t end = range->start + range->count;
    for (uint32_t i = 0; i < work->ring->size; i++) {
        struct emu_part part = emu_part_taken(work->call, i, work->ring->size, source);
        uint64_t from = part.take.start > range->start ? part.take.start : range->start;
        uint64_t to = part.take.start + part.take.count;
        to = to < end ? to : end;
        if (from >= to)
            continue;
        unsigned char *output = emu_loan_output(work->ring, work->index, i);
        put(work, output + (part.at + (from - part.take.start)) * work->element,
            bytes + (from - range->start) * work->element, (to - from) * work->element);
    }
}

/* One block of a unit: it, and as much of an input, fit into the nearest cache. */
static void fold_block(const struct work *work, const struct emu_slice *range)
{
    const struct emu_call *call = work->call;
    unsigned char *result = work->backend->bench;
    uint64_t at = range->start * work->element;
    emu_fold_two(call->dtype, call->op, result, emu_loan_input(work->ring, work->index, 0) + at,
                 emu_loan_input(work->ring, work->index, 1) + at, range->count);
    for (uint32_t i = 2; i < work->ring->size; i++)
        emu_fold(call->dtype, call->op, result, emu_loan_input(work->ring, work->index, i) + at,
                 range->count);
    emu_fold_finish(call->dtype, call->op, result, range->count, work->ring->size);
    if (call->kind == EMU_ALL_REDUCE)
        deliver_to_all(work, range, result);
    else
        deliver(work, 0, range, result);
}

static void fold_unit(const struct work *work, const struct emu_slice *unit)
{
    uint64_t end = unit->start + unit->count, most = BLOCK_BYTES / work->element;
    struct emu_slice block = {unit->start, 0};
    for (; block.start < end; block.start += block.count) {
        block.count = end - block.start < most ? end - block.start : most;
        fold_block(work, &block);
    }
}

static void do_unit(const struct work *work, uint64_t unit)
{
    uint32_t source = work->first + (uint32_t)(unit / work->per_source);
    bool reduces = emu_kind_reduces(work->call->kind);
    uint64_t elements =
        reduces ? work->call->count : emu_part_input(work->call, source, work->ring->size);
    struct emu_slice range = {unit % work->per_source * work->unit, work->unit};
    if (range.start >= elements)
        return; /* a shorter part than the first */
    if (range.count > elements - range.start)
        range.count = elements - range.start;
    if (reduces)
        fold_unit(work, &range);
    else
        deliver(work, source, &range,
                emu_loan_input(work->ring, work->index, source) + range.start * work->element);
}

bool shm_has_bench(struct shm_backend *backend)
{
    if (!backend->bench)
        backend->bench = aligned_alloc(EMU_LINE, BLOCK_BYTES);
    return backend->bench != NULL;
}

void shm_lent_work(struct shm_backend *backend, struct shm_request *request)
{
    struct work work = work_of(backend, request);
    struct shm_collective *own = &request->collective;
    uint64_t done_and_total[2] = {0, work.sources * work.per_source};
    uint64_t unit;
    own->works = false; /* once: when no unit is left there will be none */
    shm_enter_phase(backend, request, EMU_PHASE_COPYOUT);
    enum emu_lap lap = emu_handle_enter(backend->layer.rank, EMU_LAP_FOLD);
    if (emu_loan_enter(work.ring, work.index, own->group->me))
        while (emu_loan_take(work.ring, work.index, &unit) && unit < done_and_total[1]) {
            do_unit(&work, unit);
            done_and_total[0]++;
        }
    if (work.streams)
        emu_nontemporal_finish();
    emu_loan_leave(work.ring, work.index, own->group->me, done_and_total);
    emu_handle_enter(backend->layer.rank, lap);
}
