#include "config_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MAX 16

static struct reading_result read_params(const struct emu_config_params *params)
{
    struct reading_result result = {0};
    result.status = emu_config_read(params, &result.diagnostics, &result.config);
    return result;
}

struct reading_result read_with(const char *text, const char *const *sets)
{
    struct emu_override overrides[SETS_MAX];
    size_t count = 0;
    for (; sets[count]; count++)
        overrides[count].text = sets[count];
    return read_params(&(struct emu_config_params){
        .name = "test.yaml",
        .directory = "place",
        .text = text,
        .size = strlen(text),
        .sets = overrides,
        .set_count = count,
    });
}

struct reading_result read_text(const char *text)
{
    return read_with(text, (const char *const[]){NULL});
}

struct reading_result read_path(const char *path)
{
    size_t size = 0;
    char *text = load_file(path, &size);
    cr_assert_not_null(text, "%s cannot be read", path);
    const char *slash = strrchr(path, '/');
    struct reading_result result = read_params(&(struct emu_config_params){
        .name = slash ? slash + 1 : path,
        .directory = "place",
        .text = text,
        .size = size,
    });
    free(text);
    return result;
}

void reading_finish(struct reading_result *result)
{
    emu_config_destroy(result->config);
    emu_text_finish(&result->diagnostics);
}

char *load_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    struct emu_text text = {0};
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        emu_text_add(&text, block, got);
    fclose(file);
    *size = text.size;
    return emu_text_take(&text);
}

const char *beside(const char *name)
{
    static char path[1024];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - __FILE__) : 1,
             slash ? __FILE__ : ".", name);
    return path;
}
