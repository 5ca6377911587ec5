#include "seg/ways.h"

#include "base/number.h"
#include "os/cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "MESHEMU_WAYS"
#define WORD_MAX 64
#define CACHE_USUAL (UINT64_C(1) << 25)

struct emu_ways emu_ways_of(uint32_t cores)
{
    return (struct emu_ways){
        .cores = cores,
        .lend_from_few = 2048,
        .lend_from_many = 2048,
        .unit_bytes = 32768,
        .stream_from = CACHE_USUAL / 4 * 3,
    };
}

struct bound {
    const char *name;
    uint64_t least, most, step;
};

static const struct bound bounds[] = {
#define BOUND(field, name, least, most, step) {name, least, most, step},
    EMU_WAYS_LIST(BOUND)
#undef BOUND
};
#define BOUNDS (sizeof bounds / sizeof bounds[0])

static void set(struct emu_ways *ways, size_t which, uint64_t value)
{
    size_t at = 0;
#define SET(field, name, least, most, step)                                                        \
    if (at++ == which)                                                                             \
        ways->field = (__typeof__(ways->field))value;
    EMU_WAYS_LIST(SET)
#undef SET
}

static enum emu_status unknown(const char *word, struct emu_reason *reason)
{
    emu_reason_set(reason,
                   VARIABLE ": '%s' is not one of cores=N few=BYTES many=BYTES unit=BYTES "
                            "stream=BYTES, joined by commas",
                   word);
    return EMU_EINVAL;
}

static enum emu_status refuse_value(const char *name, const char *value, const struct bound *bound,
                                    struct emu_reason *reason)
{
    char step[64] = "";
    if (bound->step > 1)
        snprintf(step, sizeof step, ", a multiple of %" PRIu64, bound->step);
    emu_reason_set(reason, VARIABLE ": %s=%s: not a number from %" PRIu64 " to %" PRIu64 "%s", name,
                   value, bound->least, bound->most, step);
    return EMU_EINVAL;
}

/* One "name=value". */
static enum emu_status parse_word(char *word, struct emu_ways *ways, struct emu_reason *reason)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return unknown(word, reason);
    *equals = '\0';
    size_t i = 0;
    while (i < BOUNDS && strcmp(bounds[i].name, word) != 0)
        i++;
    if (i == BOUNDS)
        return unknown(word, reason);
    uint64_t value;
    if (!emu_parse_u64(equals + 1, &value) || value < bounds[i].least || value > bounds[i].most ||
        value % bounds[i].step != 0)
        return refuse_value(word, equals + 1, &bounds[i], reason);
    set(ways, i, value);
    return EMU_OK;
}

enum emu_status emu_ways_parse(const char *text, struct emu_ways *ways, struct emu_reason *reason)
{
    struct emu_ways parsed = *ways;
    while (text) {
        char word[WORD_MAX];
        const char *comma = strchr(text, ',');
        size_t length = comma ? (size_t)(comma - text) : strlen(text);
        if (length >= sizeof word)
            return unknown(text, reason);
        memcpy(word, text, length);
        word[length] = '\0';
        enum emu_status status = parse_word(word, &parsed, reason);
        if (status)
            return status;
        text = comma ? comma + 1 : NULL;
    }
    *ways = parsed;
    return EMU_OK;
}

enum emu_status emu_ways_here(struct emu_ways *ways, struct emu_reason *reason)
{
    *ways = emu_ways_of(emu_cpu_count());
    uint64_t cache = emu_cpu_cache_bytes();
    if (cache > 0)
        ways->stream_from = cache / 4 * 3;
    const char *text = getenv(VARIABLE);
    return text && *text ? emu_ways_parse(text, ways, reason) : EMU_OK;
}
