/* The configs of the suites are read without an error. */
#include "config_reader.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 512

struct suite_file {
    char path[1024];
};

static int only_yaml(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return size > 5 && !strcmp(entry->d_name + size - 5, ".yaml");
}

/* Paths of the configs of a folder, at most `room`; returns how many. */
static size_t add_folder(const char *folder, struct suite_file *files, size_t room)
{
    struct dirent **entries = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", beside(folder));
    int found = scandir(path, &entries, only_yaml, alphasort);
    size_t count = 0;
    for (int i = 0; i < found; i++) {
        if (count < room)
            snprintf(files[count++].path, sizeof files->path, "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return count;
}

ParameterizedTestParameters(config_suites, config_is_read_without_error)
{
    static struct suite_file files[FILES_MAX];
    size_t count = add_folder("../suites/gradients", files, FILES_MAX);
    count += add_folder("../suites/truths/account", files + count, FILES_MAX - count);
    return cr_make_param_array(struct suite_file, files, count);
}

ParameterizedTest(const struct suite_file *file, config_suites, config_is_read_without_error)
{
    struct reading_result r = read_path(file->path);
    cr_expect_eq(r.status, EMU_OK, "%s", emu_text_get(&r.diagnostics));
    reading_finish(&r);
}
