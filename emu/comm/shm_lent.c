/* Units of work on lent buffers. See seg/loan.h for the protocol and comm/parts.h for who takes
 * what.
 *
 * A kind that reduces is cut into ranges of elements: a unit folds its range of all inputs, in the
 * order of group ranks, in the first output that wants all of it or a buffer that stays in the
 * cache, and writes it to every output that wants some of it. Other kinds are cut into ranges of
 * each input that is given: a unit copies its range to all who take some of it. All inputs of a
 * range are read before an output is written, so a member may lend one buffer for both where it
 * wants its own place again: an output is folded in only if it does not lie over an input that is
 * read after the first.
 */
#include "comm/fold.h"
#include "comm/nontemporal.h"
#include "comm/parts.h"
#include "comm/shm.h"
#include "seg/loan.h"

#include <stdlib.h>
#include <string.h>

#define BENCH_BYTES 4096 /* a block is no longer */
#define FETCH_FROM 16    /* members: 8 inputs the processor follows by itself */

struct work {
    struct shm_backend *backend;
    struct shm_request *request;
    const struct emu_call *call;
    const struct emu_ring *ring;
    uint64_t index;
    struct shm_cut cut;
    uint64_t element;        /* bytes */
    uint64_t per_source;     /* units */
    uint32_t first, sources; /* members whose inputs are cut */
    uint64_t ledger_units;   /* numbered behind those of all sources */
    bool streams, fetches;
};

bool shm_may_lend(const struct shm_backend *backend, const struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    return request->base.call.kind != EMU_BARRIER &&
           own->bytes_max <= backend->segment->arena_bytes && /* else it lies elsewhere */
           emu_ways_lend(&backend->segment->ways, own->group->ring.size, own->bytes_max,
                         emu_kind_reduces(request->base.call.kind));
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
    uint64_t ledger = request->collective.ledger_bytes;
    if (backend->layer.rank->phases.entered) /* it is shown deposits */
        return false;
    if (!emu_part_output(call, group->me, size, &out))
        return false;
    out *= element;
    if (in > 0 && !(offer->input = shared_at(backend->segment, call->input, in)))
        return false;
    if (out > 0 && !(offer->output = shared_at(backend->segment, call->output, out)))
        return false;
    if (ledger > 0 && !(offer->ledger = shared_at(backend->segment, call->ledger, ledger)))
        return false;
    bool apart = in == 0 || out == 0 || offer->input + in <= offer->output ||
                 offer->output + out <= offer->input;
    return apart || may_overlap(call, group->me, size, offer);
}

/* Do inputs and outputs outgrow the cache, so that outputs are better written past it, and inputs
 * fetched ahead? See seg/ways.h. */
static void measure_against_cache(struct work *work)
{
    uint64_t from = work->backend->segment->ways.stream_from, in = 0, out = 0;
    bool one_gives = work->sources == 1 && !emu_kind_reduces(work->call->kind);
    for (uint32_t i = 0; i < work->ring->size; i++) {
        uint64_t count;
        if (emu_part_output(work->call, i, work->ring->size, &count))
            out += count * work->element;
        in += emu_part_input(work->call, i, work->ring->size) * work->element;
    }
    work->streams = in + out >= (one_gives ? from / 2 : from) && out >= in / 2;
    work->fetches = in + out >= from / 4 && work->ring->size >= FETCH_FROM;
}

static struct work work_of(struct shm_backend *backend, struct shm_request *request)
{
    const struct shm_collective *own = &request->collective;
    struct work work = {.backend = backend,
                        .request = request,
                        .cut = shm_cut_of(&request->collective),
                        .call = &request->base.call,
                        .ring = &own->group->ring,
                        .index = request->note.index,
                        .element = emu_dtype_bytes(request->base.call.dtype),
                        .sources = 1};
    if (work.call->kind == EMU_BROADCAST || work.call->kind == EMU_SCATTER)
        work.first = work.call->root;
    else if (!emu_kind_reduces(work.call->kind))
        work.sources = work.ring->size;
    work.per_source = shm_pieces(own->payload_max, work.cut.unit);
    work.ledger_units = shm_pieces(own->ledger_bytes, work.cut.ledger_unit);
    measure_against_cache(&work);
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

/* Are the bytes of a source what they were when it signed? Of a block that begins a checksum. */
static void verify(const struct work *work, struct shm_lent_block block, uint64_t size)
{
    const struct shm_cut *cut = &work->cut;
    if (cut->sum_block == 0 || block.at % cut->sum_block != 0)
        return;
    block.bytes = size - block.at < cut->sum_block ? size - block.at : cut->sum_block;
    enum emu_lap lap = emu_handle_enter(work->backend->layer.rank, EMU_LAP_CHECK);
    shm_checksum_verify_lent(work->backend, work->request, cut, &block);
    emu_handle_enter(work->backend->layer.rank, lap);
}

/* [from, to) of an input, or of coefficients, in bytes. */
struct span {
    uint64_t from, to;
};

/* The member whose output takes all of a range that is folded, at this place; -1: nobody does. */
static int64_t whole_taker(const struct work *work, const struct emu_slice *range, uint64_t *place)
{
    uint64_t end = range->start + range->count;
    for (uint32_t i = 0; i < work->ring->size; i++) {
        struct emu_part part = emu_part_taken(work->call, i, work->ring->size, 0);
        if (range->start < part.take.start || end > part.take.start + part.take.count)
            continue;
        *place = part.at + (range->start - part.take.start);
        return i;
    }
    return -1;
}

/* Where a range is folded. */
static unsigned char *fold_place(const struct work *work, const struct emu_slice *range)
{
    uint64_t place = 0;
    int64_t taker = work->streams ? -1 : whole_taker(work, range, &place);
    if (taker < 0)
        return work->backend->bench;
    unsigned char *output = emu_loan_output(work->ring, work->index, (uint32_t)taker);
    const unsigned char *input = emu_loan_input(work->ring, work->index, (uint32_t)taker);
    return taker > 0 && output == input ? work->backend->bench : output + place * work->element;
}

/* The block of an input is fetched while that before is folded: each lies in pages of its own,
 * where neither the processor's own prefetching nor its translations reach ahead. Among 32 ranks
 * that makes 2 MiB 1.2 to 1.4 times as fast. */
static void fetch(const struct work *work, uint32_t source, const struct span *span)
{
    if (!work->fetches || source >= work->ring->size)
        return;
    const unsigned char *input = emu_loan_input(work->ring, work->index, source);
    for (uint64_t at = span->from; at < span->to; at += EMU_LINE)
        __builtin_prefetch(input + at, 0, 2);
}

static void fold_block(const struct work *work, const struct span *span)
{
    const struct emu_call *call = work->call;
    uint64_t at = span->from, size = call->count * work->element;
    struct emu_slice range = {at / work->element, (span->to - at) / work->element};
    unsigned char *result = fold_place(work, &range);
    const unsigned char *first = emu_loan_input(work->ring, work->index, 0) + at;
    const unsigned char *second = emu_loan_input(work->ring, work->index, 1) + at;
    for (uint32_t i = 0; i < work->ring->size; i++)
        verify(work, (struct shm_lent_block){.source = i, .at = at}, size);
    fetch(work, 2, span);
    if (result == first)
        emu_fold(call->dtype, call->op, result, second, range.count);
    else
        emu_fold_two(call->dtype, call->op, result, first, second, range.count);
    for (uint32_t i = 2; i < work->ring->size; i++) {
        fetch(work, i + 1, span);
        emu_fold(call->dtype, call->op, result, emu_loan_input(work->ring, work->index, i) + at,
                 range.count);
    }
    emu_fold_finish(call->dtype, call->op, result, range.count, work->ring->size);
    if (call->kind == EMU_ALL_REDUCE)
        deliver_to_all(work, &range, result);
    else
        deliver(work, 0, &range, result);
}

/* Coefficients are folded where the data is, and those of the root are copied by a broadcast. */
static void fold_coefficients(const struct work *work, const struct span *span)
{
    const struct emu_call *call = work->call;
    bool reduces = emu_kind_reduces(call->kind);
    uint64_t at = span->from, bytes = span->to - at, count = bytes / sizeof(uint64_t);
    uint32_t first = reduces ? 0 : call->root, end = reduces ? work->ring->size : first + 1;
    uint64_t *result = (void *)work->backend->bench;
    for (uint32_t i = first; i < end; i++) {
        const unsigned char *input = emu_loan_ledger(work->ring, work->index, i) + at;
        verify(work, (struct shm_lent_block){.source = i, .is_ledger = true, .at = at},
               work->request->collective.ledger_bytes);
        if (i == first)
            memcpy(result, input, bytes);
        else
            emu_fold(EMU_FIELD61, EMU_SUM, result, input, count);
    }
    if (reduces)
        shm_share_coefficients(work->request, result, count);
    for (uint32_t i = 0; i < work->ring->size; i++)
        if (emu_part_receives(call, i))
            memcpy(emu_loan_ledger(work->ring, work->index, i) + at, result, bytes);
}

/* Block by block. */
static void each_block(const struct work *work, const struct span *unit,
                       void (*act)(const struct work *work, const struct span *block))
{
    struct span block = {unit->from, unit->from};
    for (; block.from < unit->to; block.from = block.to) {
        block.to = block.from + work->cut.block;
        block.to = block.to < unit->to ? block.to : unit->to;
        act(work, &block);
    }
}

static void copy_unit(const struct work *work, uint32_t source, const struct span *unit)
{
    struct emu_slice range = {unit->from / work->element, (unit->to - unit->from) / work->element};
    uint64_t size = emu_part_input(work->call, source, work->ring->size) * work->element;
    for (uint64_t at = unit->from; work->cut.sum_block && at < unit->to; at += work->cut.sum_block)
        verify(work, (struct shm_lent_block){.source = source, .at = at}, size);
    deliver(work, source, &range, emu_loan_input(work->ring, work->index, source) + unit->from);
}

/* Unit `number` of something of `size` bytes; false: it is shorter than the longest of its kind. */
static bool span_of(uint64_t number, uint64_t unit, uint64_t size, struct span *span)
{
    span->from = number * unit;
    span->to = size - span->from < unit ? size : span->from + unit;
    return span->from < size;
}

static void do_unit(const struct work *work, uint64_t unit)
{
    const struct emu_call *call = work->call;
    uint64_t of_data = work->sources * work->per_source;
    struct span span;
    if (unit >= of_data) {
        if (span_of(unit - of_data, work->cut.ledger_unit, work->request->collective.ledger_bytes,
                    &span))
            each_block(work, &span, fold_coefficients);
        return;
    }
    bool reduces = emu_kind_reduces(call->kind);
    uint32_t source = work->first + (uint32_t)(unit / work->per_source);
    uint64_t elements = reduces ? call->count : emu_part_input(call, source, work->ring->size);
    if (!span_of(unit % work->per_source, work->cut.unit, elements * work->element, &span))
        return;
    if (reduces)
        each_block(work, &span, fold_block);
    else
        copy_unit(work, source, &span);
}

bool shm_has_bench(struct shm_backend *backend)
{
    if (!backend->bench)
        backend->bench = aligned_alloc(EMU_LINE, BENCH_BYTES);
    return backend->bench != NULL;
}

void shm_lent_work(struct shm_backend *backend, struct shm_request *request)
{
    struct work work = work_of(backend, request);
    struct shm_collective *own = &request->collective;
    uint64_t done_and_total[2] = {0, work.sources * work.per_source + work.ledger_units};
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

void shm_lent_end(const struct shm_backend *backend, struct shm_request *request)
{
    if (!shm_went_lent(&request->collective))
        return;
    backend->layer.rank->lent_calls++;
    shm_checksum_end(request);
}
