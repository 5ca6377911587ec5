/* No text crashes, hangs or leaks the reader of scripts, and what it counts without running, a walk
 * through the program counts too. */
#include "config/script.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALK_MOST 20000
#define RANKS_MOST 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_op(const struct emu_script *script, const struct emu_script_entry *entry,
                     const struct emu_script_op *op, uint32_t rank)
{
    require(op->kind < EMU_SCRIPT_KIND_COUNT && op->kind != EMU_SCRIPT_REPEAT, "no op");
    require(op->name && op->line > 0, "an op without a name or a place");
    require(op->handle == EMU_SCRIPT_NO_HANDLE || op->handle < entry->name_count, "a handle");
    for (size_t i = 0; i < op->wait_count; i++)
        require(op->waits[i] < entry->name_count, "a wait for no name");
    if (op->kind == EMU_SCRIPT_COLLECTIVE)
        require(emu_script_group(script, op, rank) < script->roster.group_count, "no such group");
}

static void check_walk(const struct emu_script *script, uint32_t rank)
{
    const struct emu_script_entry *entry = emu_script_entry_of(script, rank);
    const struct emu_script_op *op;
    struct emu_script_walk walk;
    uint64_t steps = 0, results = 0;
    emu_script_walk_init(&walk, entry);
    while (steps < WALK_MOST && (op = emu_script_walk_next(&walk))) {
        check_op(script, entry, op, rank);
        steps++;
        results += emu_script_op_yields(op);
    }
    if (!entry)
        require(steps == 0, "a walk through nothing");
    else if (entry->steps < WALK_MOST)
        require(steps == entry->steps && results == entry->results, "counted otherwise");
    else
        require(steps == WALK_MOST, "a walk that ends too early");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL, "memory");
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    struct emu_text diagnostics = {0};
    struct emu_script *script = NULL;
    struct emu_script_params params = {.name = "fuzz", .text = text, .size = size};
    enum emu_status status = emu_script_read(&params, &diagnostics, &script);
    free(text);
    require((status == EMU_OK) == (script != NULL), "a script with an error, or none without");
    require((status == EMU_OK) == (diagnostics.size == 0), "an error without a word");
    for (uint32_t rank = 0; script && rank < script->mesh.world && rank < RANKS_MOST; rank++)
        check_walk(script, rank);
    emu_script_destroy(script);
    emu_text_finish(&diagnostics);
    return 0;
}
