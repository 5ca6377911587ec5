#include "report/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_CONFIG ((size_t)1 << 20)

/* The file's bytes, at most one more than a config may have: enough to see that it is too long. */
static enum emu_status read_bytes(FILE *file, const char *path, struct emu_text *bytes,
                                  struct emu_text *diagnostics)
{
    char part[4096];
    size_t got;
    while (bytes->size <= SIZE_MAX_CONFIG && (got = fread(part, 1, sizeof part, file)) > 0)
        emu_text_add(bytes, part, got);
    if (ferror(file)) {
        int reason = errno;
        emu_text_printf(diagnostics, "%s: error: cannot read the config: %s\n", path,
                        strerror(reason));
        return reason == EISDIR ? EMU_EPARSE : EMU_ESYSTEM;
    }
    return bytes->failed ? EMU_ENOMEM : EMU_OK;
}

static enum emu_status load(const char *path, struct emu_text *bytes, struct emu_text *diagnostics)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        int reason = errno;
        emu_text_printf(diagnostics, "%s: error: cannot open the config: %s\n", path,
                        strerror(reason));
        return EMU_EPARSE;
    }
    enum emu_status status = read_bytes(file, path, bytes, diagnostics);
    fclose(file);
    return status;
}

/* "configs" of "configs/a.yaml", "" of "a.yaml", "/" of "/a.yaml". NULL: no memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup("");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

enum emu_status emu_config_file_read(const char *path, const struct emu_override *sets,
                                     size_t set_count, struct emu_text *diagnostics,
                                     struct emu_config **config)
{
    struct emu_text bytes = {0};
    enum emu_status status = load(path, &bytes, diagnostics);
    char *directory = directory_of(path);
    if (status == EMU_OK && !directory)
        status = EMU_ENOMEM;
    if (status == EMU_OK) {
        struct emu_config_params params = {.name = path,
                                           .directory = directory,
                                           .text = emu_text_get(&bytes),
                                           .size = bytes.size,
                                           .sets = sets,
                                           .set_count = set_count};
        status = emu_config_read(&params, diagnostics, config);
    }
    free(directory);
    emu_text_finish(&bytes);
    return status;
}
