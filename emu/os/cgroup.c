#include "os/cgroup.h"

#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One way to find the limits of a controller. */
struct source {
    const char *controller; /* in /proc/self/cgroup; "" is v2 */
    const char *mount;
    const char *limit_file;
    const char *used_file;
    const char *cache_prefix; /* of the page cache's rows in memory.stat; NULL: no such thing */
};

static const struct source memory_sources[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", ""},
    {"", "/sys/fs/cgroup/unified", "memory.max", "memory.current", ""},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"},
};

static const struct source process_sources[] = {
    {"", "/sys/fs/cgroup", "pids.max", "pids.current", NULL},
    {"", "/sys/fs/cgroup/unified", "pids.max", "pids.current", NULL},
    {"pids", "/sys/fs/cgroup/pids", "pids.max", "pids.current", NULL},
};

/* Is `name` one of the comma-separated words of list[0..length)? */
static bool lists(const char *list, size_t length, const char *name)
{
    size_t size = strlen(name);
    if (size == 0)
        return length == 0;
    for (size_t at = 0; at < length;) {
        size_t word = strcspn(list + at, ",:");
        if (word == size && memcmp(list + at, name, size) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* Path of this process in the hierarchy of the controller, without the last slash; false: none.
 * Lines are "number:controllers:path". */
static bool own_path(const char *root, const char *controller, char *path, size_t room)
{
    char name[EMU_CGROUP_PATH_MAX], text[4096];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    if (!emu_file_peek(name, text, sizeof text))
        return false;
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        char *list = strchr(line, ':');
        char *tail = list ? strchr(list + 1, ':') : NULL;
        if (!tail || !lists(list + 1, (size_t)(tail - list - 1), controller))
            continue;
        snprintf(path, room, "%s", tail + 1);
        size_t size = strlen(path);
        while (size > 0 && path[size - 1] == '/')
            path[--size] = '\0';
        return true;
    }
    return false;
}

/* The text of a file in a folder; false where it cannot be read or the name is too long. */
static bool peek_in(const char *folder, const char *file, char *text, size_t room)
{
    char name[2 * EMU_CGROUP_PATH_MAX];
    int length = snprintf(name, sizeof name, "%s/%s", folder, file);
    return length > 0 && (size_t)length < sizeof name && emu_file_peek(name, text, room);
}

/* A number, alone in its file. "max" and the huge numbers by which v1 says so are no limit. */
static bool read_number(const char *folder, const char *file, uint64_t *value)
{
    char text[64], *end;
    if (!peek_in(folder, file, text, sizeof text))
        return false;
    *value = strtoull(text, &end, 10);
    return end != text && *value < UINT64_C(1) << 62;
}

/* A row "name number" of memory.stat; 0 where there is none. */
static uint64_t stat_row(const char *text, const char *prefix, const char *name)
{
    char row[64];
    size_t size = (size_t)snprintf(row, sizeof row, "%s%s ", prefix, name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, row, size) == 0)
            return strtoull(line + size, NULL, 10);
    }
    return 0;
}

static uint64_t droppable_cache(const char *folder, const char *prefix)
{
    char text[8192];
    if (!prefix || !peek_in(folder, "memory.stat", text, sizeof text))
        return 0;
    return stat_row(text, prefix, "inactive_file") + stat_row(text, prefix, "active_file");
}

/* Take this folder's limit into account. */
static void tighten(const struct source *source, const char *folder, struct emu_cgroup_room *best)
{
    uint64_t limit, used = 0;
    if (!read_number(folder, source->limit_file, &limit))
        return;
    if (!read_number(folder, source->used_file, &used))
        used = 0;
    uint64_t cache = droppable_cache(folder, source->cache_prefix);
    used = used > cache ? used - cache : 0;
    uint64_t room = limit > used ? limit - used : 0;
    if (best->limited && best->room <= room)
        return;
    best->limited = true;
    best->limit = limit;
    best->used = used;
    best->room = room;
    snprintf(best->where, sizeof best->where, "%.400s/%s", folder, source->limit_file);
}

/* The process's group and every group above it. */
static void climb(const char *root, const struct source *source, struct emu_cgroup_room *best)
{
    char path[EMU_CGROUP_PATH_MAX];
    if (!own_path(root, source->controller, path, sizeof path))
        return;
    for (;;) {
        char folder[2 * EMU_CGROUP_PATH_MAX];
        int length = snprintf(folder, sizeof folder, "%s%s%s", root, source->mount, path);
        if (length > 0 && (size_t)length < sizeof folder)
            tighten(source, folder, best);
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

static struct emu_cgroup_room tightest(const char *root, const struct source *sources, size_t count)
{
    struct emu_cgroup_room best = {0};
    for (size_t i = 0; i < count; i++)
        climb(root, &sources[i], &best);
    return best;
}

struct emu_cgroup_room emu_cgroup_memory(const char *root)
{
    return tightest(root, memory_sources, sizeof memory_sources / sizeof memory_sources[0]);
}

struct emu_cgroup_room emu_cgroup_processes(const char *root)
{
    return tightest(root, process_sources, sizeof process_sources / sizeof process_sources[0]);
}
