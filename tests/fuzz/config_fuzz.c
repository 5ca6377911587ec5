/* No text crashes, hangs or leaks the reader of configs, and what it accepts, it prints as a config
 * that means the same.
 *
 * The input is a config; lines after a line "%set" are overrides, one a line.
 */
#include "config/config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MAX 8
#define ROUND_TRIP_MAX 100000
#define SEPARATOR "\n%set\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Cut the lines of `text` apart, in place. */
static size_t cut_lines(char *text, struct emu_override *sets)
{
    size_t count = 0;
    while (text && *text && count < SETS_MAX) {
        char *end = strchr(text, '\n');
        if (end)
            *end = '\0';
        sets[count++].text = text;
        text = end ? end + 1 : NULL;
    }
    return count;
}

static char *print_config(const struct emu_config *config)
{
    struct emu_text json = {0};
    emu_config_to_json(config, &json);
    return emu_text_take(&json);
}

static void check_round_trip(const struct emu_config *config)
{
    char *once = print_config(config);
    require(once != NULL, "memory");
    struct emu_text diagnostics = {0};
    struct emu_config *again = NULL;
    struct emu_config_params params = {
        .name = "printed", .directory = "", .text = once, .size = strlen(once)};
    if (params.size < ROUND_TRIP_MAX) {
        enum emu_status status = emu_config_read(&params, &diagnostics, &again);
        require(status == EMU_OK, emu_text_get(&diagnostics));
        char *twice = print_config(again);
        require(twice && !strcmp(once, twice), "printed twice, and differently");
        free(twice);
        emu_config_destroy(again);
    }
    emu_text_finish(&diagnostics);
    free(once);
}

static void check_complaints(const struct emu_config *config)
{
    static const char *const keys[] = {"mesh", "model.hidden", "recipe.reduce[1].over[0]",
                                       "faults[2]", ""};
    struct emu_text out = {0};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        emu_config_complain(config, &out, keys[i], "%s", "complaint");
    emu_text_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL, "memory");
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    struct emu_override sets[SETS_MAX];
    char *separator = memmem(text, size, SEPARATOR, strlen(SEPARATOR));
    struct emu_config_params params = {.name = "fuzz", .directory = "d", .text = text};
    params.size = separator ? (size_t)(separator - text) : size;
    params.sets = sets;
    params.set_count = separator ? cut_lines(separator + strlen(SEPARATOR), sets) : 0;
    struct emu_text diagnostics = {0};
    struct emu_config *config = NULL;
    enum emu_status status = emu_config_read(&params, &diagnostics, &config);
    free(text);
    require((status == EMU_OK) == (config != NULL), "a config with an error, or none without");
    require((status == EMU_OK) == (diagnostics.size == 0), "an error without a word");
    if (config) {
        check_round_trip(config);
        check_complaints(config);
    }
    emu_config_destroy(config);
    emu_text_finish(&diagnostics);
    return 0;
}
