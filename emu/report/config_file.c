#include "report/config_file.h"

#include "os/file.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_LIMIT ((size_t)1 << 20)

/* "configs" of "configs/a.yaml", "" of "a.yaml", "/" of "/a.yaml". NULL: no memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup("");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* A file that cannot be read is the user's mistake; that memory ran out is not. */
static enum emu_status load(const char *path, char **bytes, size_t *size,
                            struct emu_text *diagnostics)
{
    struct emu_reason reason;
    enum emu_status status = emu_file_read(path, CONFIG_LIMIT, bytes, size, &reason);
    if (status == EMU_OK)
        return EMU_OK;
    emu_text_printf(diagnostics, "error: %s\n", reason.text);
    return status == EMU_ESYSTEM ? EMU_EPARSE : status;
}

enum emu_status emu_config_file_read(const char *path, const struct emu_override *sets,
                                     size_t set_count, struct emu_text *diagnostics,
                                     struct emu_config **config)
{
    char *bytes;
    size_t size;
    enum emu_status status = load(path, &bytes, &size, diagnostics);
    if (status != EMU_OK)
        return status;
    char *directory = directory_of(path);
    if (directory) {
        struct emu_config_params params = {.name = path,
                                           .directory = directory,
                                           .text = bytes,
                                           .size = size,
                                           .sets = sets,
                                           .set_count = set_count};
        status = emu_config_read(&params, diagnostics, config);
    } else {
        status = EMU_ENOMEM;
    }
    free(directory);
    free(bytes);
    return status;
}
