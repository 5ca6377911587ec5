/* Every file of bad/ is refused with exactly the words of the .err file beside it. */
#include "config_reader.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_FILES 30
#define FILES_MAX 256

struct bad_file {
    char yaml[1024];
    char err[1024];
};

static int only_yaml(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return size > 5 && !strcmp(entry->d_name + size - 5, ".yaml");
}

ParameterizedTestParameters(config_read, bad_file_gets_its_exact_diagnostics)
{
    static struct bad_file files[FILES_MAX];
    struct dirent **entries = NULL;
    const char *folder = beside("bad");
    size_t kept = 0;
    int count = scandir(folder, &entries, only_yaml, alphasort);
    for (int i = 0; i < count; i++) {
        int stem = (int)strlen(entries[i]->d_name) - 5;
        if (kept < FILES_MAX) {
            snprintf(files[kept].yaml, sizeof files[kept].yaml, "%s/%.*s.yaml", folder, stem,
                     entries[i]->d_name);
            snprintf(files[kept].err, sizeof files[kept].err, "%s/%.*s.err", folder, stem,
                     entries[i]->d_name);
            kept++;
        }
        free(entries[i]);
    }
    free(entries);
    return cr_make_param_array(struct bad_file, files, kept);
}

ParameterizedTest(const struct bad_file *file, config_read, bad_file_gets_its_exact_diagnostics)
{
    struct reading_result result = read_path(file->yaml);
    size_t size = 0;
    char *wanted = load_file(file->err, &size);
    cr_assert_not_null(wanted, "%s is missing", file->err);
    cr_expect_eq(result.status, EMU_EPARSE);
    cr_expect_str_eq(emu_text_get(&result.diagnostics), wanted, "%s differs:\n%s", file->err,
                     emu_text_get(&result.diagnostics));
    free(wanted);
    reading_finish(&result);
}

Test(config_read, thirty_bad_files_are_there)
{
    struct dirent **entries = NULL;
    int count = scandir(beside("bad"), &entries, only_yaml, alphasort);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    cr_assert(count >= LEAST_FILES && count <= FILES_MAX);
}
