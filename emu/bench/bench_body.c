#include "bench/bench_body.h"

#include "bench/bench_coefficients.h"
#include "bench/sample_stats.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/memory_use.h"
#include "os/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_ITERATIONS UINT64_C(5)
#define MOST_ITERATIONS UINT64_C(20000)
#define MOST_WARMUP UINT64_C(20)

struct member {
    struct emu_bench *bench;
    struct emu_rank *rank;
    uint32_t id;
    uint32_t world_group, group;
    struct emu_group members;
    uint32_t me;
    unsigned char *input, *output;
    uint64_t *coefficients; /* NULL: none */
    uint64_t *samples;      /* rank 0 alone */
    uint64_t arrivals;
};

static uint32_t root_of(const struct member *member, uint64_t number)
{
    int64_t root = member->bench->request.root;
    return root == EMU_BENCH_ROOT_MOVES ? (uint32_t)(number % member->members.size)
                                        : (uint32_t)root;
}

/* The call of a row; its root is set for each call. */
static struct emu_call call_of(const struct member *member, const struct emu_bench_row *row)
{
    const struct emu_bench_request *request = &member->bench->request;
    return (struct emu_call){.kind = row->op,
                             .group = member->group,
                             .count = row->shape.count,
                             .dtype = request->dtype,
                             .op = request->reduce,
                             .layout = EMU_LAYOUT_EQUAL,
                             .input = member->input,
                             .output = member->output,
                             .label = "bench",
                             .ledger = member->coefficients,
                             .ledger_count = request->coefficients,
                             .file = __FILE__,
                             .line = __LINE__};
}

static enum emu_status perform(const struct member *member, const struct emu_call *call)
{
    if (call->kind != EMU_SEND)
        return emu_run_call(member->rank, call);
    uint32_t size = member->members.size;
    uint32_t to = emu_group_member(&member->members, (member->me + 1) % size);
    uint32_t from = emu_group_member(&member->members, (member->me + size - 1) % size);
    return emu_sendrecv(member->rank, to, call->input, call->count, from, call->output, call->count,
                        call->dtype, 0);
}

static enum emu_status meet(const struct member *member)
{
    return emu_barrier(member->rank, member->world_group);
}

static void note_wrong(const struct member *member, struct emu_bench_row *row, uint64_t wrong,
                       const struct emu_bench_complaint *first)
{
    uint32_t nobody = 0;
    atomic_fetch_add_explicit(&row->wrong, wrong, memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&row->claimed, &nobody, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    row->complaining = member->id;
    row->complaint = *first;
}

/* Nobody may come out of a barrier before all have come in. */
static enum emu_status check_barrier(struct member *member, struct emu_bench_row *row)
{
    struct emu_call call = call_of(member, row);
    _Atomic uint64_t *arrivals = member->bench->arrivals;
    uint64_t number = ++member->arrivals, wrong = 0;
    struct emu_bench_complaint first = {0};
    atomic_store_explicit(&arrivals[member->id], number, memory_order_release);
    enum emu_status status = perform(member, &call);
    for (uint32_t i = 0; i < member->members.size; i++) {
        uint64_t seen = atomic_load_explicit(&arrivals[emu_group_member(&member->members, i)],
                                             memory_order_acquire);
        if (seen < number && wrong++ == 0)
            first = (struct emu_bench_complaint){i, (double)number, (double)seen, false};
    }
    if (status == EMU_OK && wrong > 0)
        note_wrong(member, row, wrong, &first);
    return status;
}

/* One call on fresh data, with what it must not leave as it is overwritten before. */
static enum emu_status check_data(struct member *member, struct emu_bench_row *row, uint64_t number)
{
    const struct emu_bench_request *request = &member->bench->request;
    struct emu_call call = call_of(member, row);
    call.root = root_of(member, number);
    struct emu_bench_data data = {.op = row->op,
                                  .dtype = request->dtype,
                                  .reduce = request->reduce,
                                  .me = member->me,
                                  .size = member->members.size,
                                  .root = call.root,
                                  .salt = number,
                                  .shape = row->shape};
    bool is_root = member->me == call.root;
    struct emu_bench_complaint first;
    emu_bench_data_init(&data);
    memset(member->output, 0xa5, row->shape.output * emu_dtype_bytes(data.dtype));
    if (emu_bench_op_reads(row->op, is_root))
        emu_bench_data_fill(&data, member->input);
    emu_bench_coefficients_fill(&data, member->coefficients, request->coefficients);
    enum emu_status status = perform(member, &call);
    if (status != EMU_OK)
        return status;
    uint64_t wrong =
        emu_bench_coefficients_verify(&data, member->coefficients, request->coefficients, &first);
    if (emu_bench_op_writes(row->op, is_root))
        wrong += emu_bench_data_verify(&data, member->output, &first);
    if (wrong > 0)
        note_wrong(member, row, wrong, &first);
    return EMU_OK;
}

static enum emu_status check(struct member *member, struct emu_bench_row *row, uint64_t number)
{
    enum emu_status status =
        row->op == EMU_BARRIER ? check_barrier(member, row) : check_data(member, row, number);
    if (status == EMU_OK)
        atomic_fetch_add_explicit(&row->checked, 1, memory_order_relaxed);
    return status;
}

/* Calls back to back; samples: where each one's time goes, NULL: nowhere. */
static enum emu_status repeat(const struct member *member, const struct emu_bench_row *row,
                              uint64_t count, uint64_t *samples)
{
    struct emu_call call = call_of(member, row);
    enum emu_status status = EMU_OK;
    uint64_t before = samples ? emu_clock_ns() : 0;
    for (uint64_t i = 0; i < count && status == EMU_OK; i++) {
        call.root = root_of(member, i);
        status = perform(member, &call);
        if (!samples)
            continue;
        uint64_t now = emu_clock_ns();
        samples[i] = now - before;
        before = now;
    }
    return status;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Rank 0 decides how many calls; the barrier after it shows that to all. */
static enum emu_status warm_up(const struct member *member, struct emu_bench_row *row)
{
    const struct emu_bench_request *request = &member->bench->request;
    enum emu_status status = meet(member);
    uint64_t begun = emu_clock_ns();
    if (status == EMU_OK)
        status = repeat(member, row, 1, NULL);
    uint64_t once = emu_clock_ns() - begun;
    if (member->id == 0)
        row->warmup = request->warmup >= 0
                          ? (uint64_t)request->warmup
                          : clamp(request->time_ns / 4 / (once ? once : 1), 1, MOST_WARMUP);
    if (status == EMU_OK)
        status = meet(member);
    begun = emu_clock_ns();
    if (status == EMU_OK)
        status = repeat(member, row, row->warmup, NULL);
    uint64_t each = row->warmup ? (emu_clock_ns() - begun) / row->warmup : once;
    if (member->id == 0)
        row->iterations = request->iterations ? request->iterations
                                              : clamp(request->time_ns / (each ? each : 1),
                                                      LEAST_ITERATIONS, MOST_ITERATIONS);
    return status == EMU_OK ? meet(member) : status;
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(most, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak_explicit(
                               most, &seen, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static enum emu_status measure(const struct member *member, struct emu_bench_row *row)
{
    uint64_t begun = emu_clock_ns();
    enum emu_status status = repeat(member, row, row->iterations, member->samples);
    raise_to(&row->slowest_ns, emu_clock_ns() - begun);
    if (status != EMU_OK || !member->samples)
        return status;
    struct emu_sample_stats stats = emu_sample_stats_of(member->samples, row->iterations);
    row->median_ns = stats.median;
    row->p99_ns = stats.p99;
    return EMU_OK;
}

static enum emu_status run_row(struct member *member, uint64_t number)
{
    struct emu_bench_row *row = &member->bench->rows[number];
    enum emu_status status = check(member, row, 2 * number + 1);
    if (status == EMU_OK)
        status = warm_up(member, row);
    if (status == EMU_OK)
        status = measure(member, row);
    if (status == EMU_OK)
        status = check(member, row, 2 * number + 2);
    if (status == EMU_OK)
        status = meet(member);
    if (status == EMU_OK && member->id == 0)
        atomic_store_explicit(&row->measured, 1, memory_order_release);
    return status;
}

/* The buffers lie in the arena and are touched first by the rank that uses them. */
static enum emu_status prepare(struct member *member)
{
    const struct emu_bench_request *request = &member->bench->request;
    enum emu_status status = emu_rank_group(member->rank, "world", &member->world_group);
    if (status == EMU_OK)
        status = emu_roster_group_of(request->roster, request->family, member->id, &member->group);
    if (status != EMU_OK)
        return status;
    member->members = emu_roster_group(request->roster, member->group);
    member->me = (uint32_t)emu_rank_group_index(member->rank, member->group);
    uint64_t bytes = member->bench->buffer_bytes ? member->bench->buffer_bytes : 1;
    member->output = emu_rank_alloc(member->rank, bytes);
    member->input = request->in_place ? member->output : emu_rank_alloc(member->rank, bytes);
    if (request->coefficients)
        member->coefficients =
            emu_rank_alloc(member->rank, request->coefficients * sizeof(uint64_t));
    if (!member->output || !member->input || (request->coefficients && !member->coefficients))
        return EMU_ENOMEM;
    if (member->id != 0)
        return EMU_OK;
    uint64_t most = request->iterations ? request->iterations : MOST_ITERATIONS;
    member->samples = malloc(most * sizeof *member->samples);
    return member->samples ? EMU_OK : EMU_ENOMEM;
}

static enum emu_status first_barrier(const struct member *member)
{
    struct emu_bench_launch *launch = member->bench->launch;
    enum emu_status status = meet(member);
    raise_to(&launch->barrier_ns, emu_clock_ns() - launch->begun_ns);
    return status;
}

/* While all are there: a page is shared by those that have it. */
static enum emu_status tell_memory(const struct member *member)
{
    struct emu_bench_launch *launch = member->bench->launch;
    struct emu_memory_use use;
    if (emu_memory_use(&use)) {
        atomic_fetch_add_explicit(&launch->pss_sum, use.pss_bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&launch->tables_sum, use.tables_bytes, memory_order_relaxed);
        raise_to(&launch->pss_most, use.pss_bytes);
        raise_to(&launch->tables_most, use.tables_bytes);
        atomic_fetch_add_explicit(&launch->told, 1, memory_order_relaxed);
    }
    return meet(member);
}

static void show_progress(const struct member *member, uint64_t number)
{
    const struct emu_bench_row *row = &member->bench->rows[number];
    if (member->id == 0 && emu_terminal_is(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s, %" PRIu64 " bytes (%" PRIu64 "/%" PRIu64 ")",
                emu_bench_op_name(row->op), row->shape.bytes, number + 1, member->bench->row_count);
}

int emu_bench_body(struct emu_rank *rank, void *user)
{
    struct emu_bench *bench = user;
    struct member member = {.bench = bench, .rank = rank, .id = emu_rank_id(rank)};
    if (bench->request.pin && !emu_cpu_pin(member.id))
        atomic_fetch_add_explicit(bench->refused, 1, memory_order_relaxed);
    enum emu_status status = prepare(&member);
    if (status == EMU_OK && bench->request.launch)
        status = first_barrier(&member);
    for (uint64_t i = 0; i < bench->row_count && status == EMU_OK; i++) {
        show_progress(&member, i);
        status = run_row(&member, i);
    }
    if (status == EMU_OK && bench->request.launch)
        status = tell_memory(&member);
    if (member.id == 0 && emu_terminal_is(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    free(member.samples);
    return status == EMU_OK ? 0 : 1;
}
