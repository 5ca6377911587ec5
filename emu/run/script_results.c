#include "run/script_results.h"

#include <stdlib.h>
#include <string.h>

static uint64_t slots_of(const struct emu_script *script, uint32_t rank)
{
    const struct emu_script_entry *entry = emu_script_entry_of(script, rank);
    return entry ? entry->results : 0;
}

enum emu_status emu_script_results_create(const struct emu_script *script,
                                          struct emu_script_results *results,
                                          struct emu_reason *reason)
{
    uint32_t world = script->mesh.world;
    uint64_t total = 0;
    *results = (struct emu_script_results){.script = script};
    results->first = malloc(world * sizeof *results->first);
    if (!results->first) {
        emu_reason_set(reason, "out of memory");
        return EMU_ENOMEM;
    }
    for (uint32_t rank = 0; rank < world; rank++) {
        results->first[rank] = total;
        total += slots_of(script, rank); /* 2^16 ranks of at most 2^20 */
    }
    enum emu_status status = emu_map_create(
        world * sizeof(struct emu_script_steps) + total * sizeof(struct emu_script_slot),
        EMU_MAP_BEST, "use fewer ranks or repeat less often", &results->map, reason);
    if (status != EMU_OK)
        emu_script_results_destroy(results);
    return status;
}

void emu_script_results_destroy(struct emu_script_results *results)
{
    emu_map_destroy(&results->map);
    free(results->first);
    *results = (struct emu_script_results){0};
}

struct emu_script_steps *emu_script_results_steps(const struct emu_script_results *results,
                                                  uint32_t rank)
{
    struct emu_script_steps *steps = results->map.base;
    return &steps[rank];
}

struct emu_script_slot *emu_script_results_slot(const struct emu_script_results *results,
                                                uint32_t rank, uint64_t number)
{
    struct emu_script_slot *slots =
        (void *)emu_script_results_steps(results, results->script->mesh.world);
    return &slots[results->first[rank] + number];
}

/* Walks through a rank's program beside what it wrote. */
struct reader {
    const struct emu_script_results *results;
    struct emu_script_outcome *outcome;
    uint64_t *received;                      /* per peer */
    uint64_t calls[EMU_ROSTER_MAX_FAMILIES]; /* a rank is in one group of each family */
    uint64_t room;
};

static bool append(struct reader *reader, const struct emu_script_result *result)
{
    struct emu_script_outcome *outcome = reader->outcome;
    if (outcome->result_count == reader->room) {
        uint64_t room = reader->room ? 2 * reader->room : 64;
        void *grown = realloc(outcome->results, room * sizeof *outcome->results);
        if (!grown)
            return false;
        outcome->results = grown;
        reader->room = room;
    }
    outcome->results[outcome->result_count++] = *result;
    return true;
}

/* The number of this call in its group, or of this message from its peer; counts it. */
static uint64_t number_of(struct reader *reader, const struct emu_script_op *op)
{
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        return reader->calls[op->family]++;
    bool inside = op->from >= 0 && op->from < reader->results->script->mesh.world;
    return inside && op->kind != EMU_SCRIPT_SEND ? reader->received[op->from]++ : 0;
}

static bool read_call(struct reader *reader, uint32_t rank, const struct emu_script_op *op,
                      uint64_t *number)
{
    const struct emu_script *script = reader->results->script;
    uint64_t index = number_of(reader, op);
    if (!emu_script_op_yields(op))
        return true;
    const struct emu_script_slot *slot =
        emu_script_results_slot(reader->results, rank, (*number)++);
    if (!atomic_load_explicit(&slot->done, memory_order_acquire))
        return true;
    struct emu_script_result result = {rank, op, EMU_GROUP_SELF, index, slot->bits};
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        result.group = emu_script_group(script, op, rank);
    return append(reader, &result);
}

static bool read_rank(struct reader *reader, uint32_t rank)
{
    const struct emu_script *script = reader->results->script;
    uint64_t steps = atomic_load_explicit(&emu_script_results_steps(reader->results, rank)->steps,
                                          memory_order_acquire);
    uint64_t number = 0;
    struct emu_script_walk walk;
    emu_script_walk_init(&walk, emu_script_entry_of(script, rank));
    memset(reader->calls, 0, sizeof reader->calls);
    memset(reader->received, 0, script->mesh.world * sizeof *reader->received);
    while (steps-- > 0) {
        const struct emu_script_op *op = emu_script_walk_next(&walk);
        if (!op)
            break;
        reader->outcome->ended_at[rank] = op;
        if (emu_script_op_is_call(op) && !read_call(reader, rank, op, &number))
            return false;
    }
    return true;
}

enum emu_status emu_script_results_gather(const struct emu_script_results *results,
                                          struct emu_script_outcome *outcome)
{
    uint32_t world = results->script->mesh.world;
    struct reader reader = {.results = results, .outcome = outcome};
    reader.received = malloc(world * sizeof *reader.received);
    outcome->ended_at = calloc(world, sizeof *outcome->ended_at);
    enum emu_status status = reader.received && outcome->ended_at ? EMU_OK : EMU_ENOMEM;
    for (uint32_t rank = 0; rank < world && status == EMU_OK; rank++)
        if (!read_rank(&reader, rank))
            status = EMU_ENOMEM;
    free(reader.received);
    return status;
}
