#include "run/script_body.h"

#include "base/checked.h"
#include "comm/rank.h"
#include "os/clock.h"
#include "os/self_signal.h"
#include "run/script_call.h"
#include "run/script_value.h"
#include "seg/incident_words.h"
#include "seg/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_NO_MEMORY 71

/* An async call between its start and its wait. */
struct open_call {
    struct emu_script_call call;
    bool open;
    uint64_t slot;
};

struct performer {
    struct emu_rank *rank;
    const struct emu_script *script;
    const struct emu_script_results *results;
    const struct emu_script_entry *entry;
    struct open_call *open; /* one a name of the entry */
    uint64_t slots;         /* taken */
    bool has_value;         /* a `data` op has set the next fill */
    double value;
};

/* Tell the launcher about a call that never reached the backend; call NULL: its numbers are none
 * that can be shown. */
static enum emu_status report(const struct performer *p, const struct emu_call *call,
                              uint32_t group, const char *text)
{
    const struct emu_segment *segment = emu_rank_segment(p->rank);
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_ARGUMENT,
        .status = EMU_EINVAL,
        .rank = emu_rank_id(p->rank),
        .group = group,
        .enabled_ns = emu_clock_ns(),
        .call = {.kind = EMU_KIND_COUNT},
    };
    if (call)
        emu_call_view_of(segment, call, &incident.call);
    snprintf(incident.text, sizeof incident.text, "%s", text);
    emu_incident_append(segment, &incident);
    return EMU_EINVAL;
}

static enum emu_status report_name(const struct performer *p, const struct emu_script_op *op,
                                   uint32_t handle, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "line %" PRIu32 ": async '%.24s' %s", op->line,
             p->entry->names[handle], what);
    return report(p, NULL, EMU_GROUP_SELF, text);
}

/* The call is over: its result, if it has one, is there for the launcher. */
static void keep_result(const struct performer *p, const struct emu_script_call *call,
                        uint64_t number)
{
    if (!emu_script_op_yields(call->op) || call->output_count == 0)
        return;
    struct emu_script_slot *slot =
        emu_script_results_slot(p->results, emu_rank_id(p->rank), number);
    slot->bits = emu_script_first(call->output, call->op->dtype);
    atomic_store_explicit(&slot->done, 1, memory_order_release);
}

static enum emu_status make_call(struct performer *p, const struct emu_script_op *op,
                                 struct emu_script_call *call)
{
    double value = p->has_value ? p->value : (double)emu_rank_id(p->rank) + 1;
    p->has_value = false;
    enum emu_status status = emu_script_call_make(p->rank, p->script, op, value, call);
    if (status != EMU_EINVAL)
        return status;
    bool shown = op->to >= 0 && op->from >= 0 && op->root >= 0;
    return report(p, shown ? &call->calls[0] : NULL, call->calls[0].group, call->why);
}

static enum emu_status run_async(struct performer *p, const struct emu_script_op *op, uint64_t slot)
{
    struct open_call *open = &p->open[op->handle];
    if (open->open)
        return report_name(p, op, op->handle,
                           "is started again before its wait, so the first is never waited for");
    enum emu_status status = make_call(p, op, &open->call);
    open->slot = slot;
    if (status == EMU_OK)
        status = emu_script_call_start(p->rank, &open->call);
    open->open = status == EMU_OK;
    return status;
}

static enum emu_status run_blocking(struct performer *p, const struct emu_script_op *op,
                                    uint64_t slot)
{
    struct emu_script_call call;
    enum emu_status status = make_call(p, op, &call);
    if (status == EMU_OK)
        status = emu_script_call_start(p->rank, &call);
    enum emu_status waited = emu_script_call_wait(p->rank, &call);
    if (status == EMU_OK)
        status = waited;
    if (status == EMU_OK)
        keep_result(p, &call, slot);
    emu_script_call_finish(&call);
    return status;
}

static enum emu_status run_wait(struct performer *p, const struct emu_script_op *op)
{
    enum emu_status status = EMU_OK;
    for (size_t i = 0; i < op->wait_count && status == EMU_OK; i++) {
        struct open_call *open = &p->open[op->waits[i]];
        if (!open->open)
            return report_name(p, op, op->waits[i], "is waited for, but no call of it is open");
        status = emu_script_call_wait(p->rank, &open->call);
        if (status == EMU_OK)
            keep_result(p, &open->call, open->slot);
        open->open = false;
        emu_script_call_finish(&open->call);
    }
    return status;
}

/* Keeps the processor busy until then; 0: for ever. */
static void burn(uint64_t until_ns)
{
    while (until_ns == 0 || emu_clock_ns() < until_ns)
        for (volatile unsigned i = 0; i < 1000; i++) {
        }
}

static uint64_t time_after(uint64_t ns)
{
    uint64_t sum;
    return emu_add_fits(emu_clock_ns(), ns, &sum) ? sum : UINT64_MAX;
}

/* Ops that are no calls. *code is set and true returned where one ends the program. */
static bool act(struct performer *p, const struct emu_script_op *op, int *code)
{
    switch (op->kind) {
    case EMU_SCRIPT_COMPUTE:
        burn(time_after(op->duration_ns));
        return false;
    case EMU_SCRIPT_SLEEP:
        emu_clock_sleep(op->duration_ns);
        return false;
    case EMU_SCRIPT_SPIN:
        burn(0);
        return false;
    case EMU_SCRIPT_STOP:
        emu_self_stop(op->duration_ns);
        return false;
    case EMU_SCRIPT_DATA:
        p->has_value = true;
        p->value = op->value;
        return false;
    case EMU_SCRIPT_KILL:
        emu_self_kill((int)op->code);
    default: /* exit */
        *code = (int)op->code;
        return true;
    }
}

static enum emu_status run_call(struct performer *p, const struct emu_script_op *op)
{
    uint64_t slot = p->slots;
    p->slots += emu_script_op_yields(op);
    return op->handle == EMU_SCRIPT_NO_HANDLE ? run_blocking(p, op, slot) : run_async(p, op, slot);
}

/* All ops until one ends the program. */
static enum emu_status walk(struct performer *p, int *code)
{
    struct emu_script_steps *steps = emu_script_results_steps(p->results, emu_rank_id(p->rank));
    struct emu_script_walk place;
    emu_script_walk_init(&place, p->entry);
    const struct emu_script_op *op;
    uint64_t count = 0;
    enum emu_status status = EMU_OK;
    while (status == EMU_OK && (op = emu_script_walk_next(&place))) {
        atomic_store_explicit(&steps->steps, ++count, memory_order_release);
        if (emu_script_op_is_call(op))
            status = run_call(p, op);
        else if (op->kind == EMU_SCRIPT_WAIT)
            status = run_wait(p, op);
        else if (act(p, op, code))
            break;
    }
    return status;
}

/* Names that are open at the end of a program that went well. */
static enum emu_status check_open(const struct performer *p)
{
    char text[128];
    for (size_t i = 0; i < p->entry->name_count; i++) {
        if (!p->open[i].open)
            continue;
        snprintf(text, sizeof text, "%s with async '%.24s' (line %" PRIu32 ") was never waited for",
                 p->open[i].call.op->name, p->entry->names[i], p->open[i].call.op->line);
        return report(p, NULL, EMU_GROUP_SELF, text);
    }
    return EMU_OK;
}

/* Buffers of calls that are still open stay: the backend may yet write to them. */
int emu_script_perform(struct emu_rank *rank, const struct emu_script_results *results)
{
    const struct emu_script *script = results->script;
    struct performer p = {.rank = rank,
                          .script = script,
                          .results = results,
                          .entry = emu_script_entry_of(script, emu_rank_id(rank))};
    int code = 0;
    if (!p.entry)
        return 0;
    p.open = calloc(p.entry->name_count + 1, sizeof *p.open);
    emu_rank_set_strict(rank, !script->buffered);
    enum emu_status status = p.open ? walk(&p, &code) : EMU_ENOMEM;
    if (status == EMU_OK && code == 0)
        status = check_open(&p);
    if (status == EMU_ENOMEM) {
        fprintf(stderr, "out of memory for the buffers of a call\n");
        return CODE_NO_MEMORY;
    }
    return status == EMU_OK ? code : (int)status;
}

static uint64_t bytes_of(const struct emu_script *script, const struct emu_script_op *op,
                         uint32_t rank)
{
    uint64_t elements[2] = {0, 0}, sum, bytes;
    int64_t index = -1;
    uint32_t size = 1;
    if (op->kind == EMU_SCRIPT_COLLECTIVE) {
        struct emu_group group =
            emu_roster_group(&script->roster, emu_script_group(script, op, rank));
        index = emu_group_index(&group, rank);
        size = group.size;
    }
    if (!emu_script_elements(op, index, size, elements) ||
        !emu_add_fits(elements[0], elements[1], &sum) ||
        !emu_mul_fits(sum, emu_dtype_bytes(op->dtype), &bytes))
        return UINT64_MAX;
    return bytes;
}

/* The largest blocking call, and every async name open at once. */
static uint64_t bytes_of_ops(const struct emu_script *script, const struct emu_script_op *ops,
                             size_t count, uint32_t rank)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = 0;
        if (ops[i].kind == EMU_SCRIPT_REPEAT)
            bytes = bytes_of_ops(script, ops[i].body, ops[i].body_count, rank);
        else if (emu_script_op_is_call(&ops[i]))
            bytes = bytes_of(script, &ops[i], rank);
        if (bytes > most)
            most = bytes;
    }
    return most;
}

uint64_t emu_script_buffer_bytes(const struct emu_script *script, uint32_t rank)
{
    const struct emu_script_entry *entry = emu_script_entry_of(script, rank);
    uint64_t bytes = 0;
    if (!entry)
        return 0;
    uint64_t most = bytes_of_ops(script, entry->ops, entry->count, rank);
    return emu_mul_fits(most, entry->name_count + 1, &bytes) ? bytes : UINT64_MAX;
}
