#include "os/memory_use.h"

#include "os/file.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096

/* The number of KiB behind a name at the start of a line. */
static bool find_kib(const char *text, const char *name, uint64_t *bytes)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0) {
            *bytes = strtoull(line + length, NULL, 10) * 1024;
            return true;
        }
    }
    return false;
}

bool emu_memory_use(struct emu_memory_use *use)
{
    char text[TEXT_MAX];
    struct emu_memory_use found;
    if (!emu_file_peek("/proc/self/smaps_rollup", text, sizeof text) ||
        !find_kib(text, "Pss:", &found.pss_bytes))
        return false;
    if (!emu_file_peek("/proc/self/status", text, sizeof text) ||
        !find_kib(text, "VmPTE:", &found.tables_bytes))
        return false;
    *use = found;
    return true;
}
