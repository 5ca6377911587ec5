#include "os/kernel_limits.h"

#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 512
#define RESERVED_PIDS 300 /* not given again once the numbers have wrapped (linux/pid.h) */

/* One table of the kernel. */
struct table {
    const char *noun;
    const char *sysctl; /* its name; '.' is '/' below /proc/sys */
    uint64_t need, used;
};

static bool peek(const char *root, const char *path, char *text, size_t room)
{
    char name[PATH_ROOM];
    int length = snprintf(name, sizeof name, "%s/proc/%s", root, path);
    return length > 0 && (size_t)length < sizeof name && emu_file_peek(name, text, room);
}

static bool read_sysctl(const char *root, const char *sysctl, uint64_t *value)
{
    char path[128], text[64], *end;
    snprintf(path, sizeof path, "sys/%s", sysctl);
    for (char *dot = strchr(path, '.'); dot; dot = strchr(dot, '.'))
        *dot = '/';
    if (!peek(root, path, text, sizeof text))
        return false;
    *value = strtoull(text, &end, 10);
    return end != text;
}

static enum emu_status check_table(const char *root, const struct table *table,
                                   struct emu_reason *reason)
{
    uint64_t limit;
    if (!read_sysctl(root, table->sysctl, &limit))
        return EMU_OK;
    uint64_t room = limit > table->used ? limit - table->used : 0;
    if (table->need <= room)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the mesh needs %" PRIu64 " %s, %s allows %" PRIu64 " more (%" PRIu64
                          " in all): use fewer ranks, or raise it with: sysctl "
                          "-w %s=%" PRIu64,
                          table->need, table->noun, table->sysctl, room, limit, table->sysctl,
                          table->used + table->need);
}

/* Of the whole machine, from "0.1 0.2 0.3 running/total last"; 0 where that is unknown. */
static uint64_t tasks_in_use(const char *root)
{
    char text[128];
    const char *slash = peek(root, "loadavg", text, sizeof text) ? strchr(text, '/') : NULL;
    return slash ? strtoull(slash + 1, NULL, 10) : 0;
}

/* "used free most"; 0 where that is unknown. */
static uint64_t files_in_use(const char *root)
{
    char text[128];
    return peek(root, "sys/fs/file-nr", text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

enum emu_status emu_limits_check_kernel(const char *root, const struct emu_kernel_demand *demand,
                                        struct emu_reason *reason)
{
    static const char tasks[] = "processes and threads";
    uint64_t running = tasks_in_use(root);
    const struct table tables[] = {
        {tasks, "kernel.pid_max", demand->tasks, running + RESERVED_PIDS},
        {tasks, "kernel.threads-max", demand->tasks, running},
        {"watched files", "fs.epoll.max_user_watches", demand->watches, 0},
        {"open files", "fs.file-max", demand->files, files_in_use(root)},
    };
    size_t count = sizeof tables / sizeof tables[0] - (demand->is_root ? 1 : 0);
    for (size_t i = 0; i < count; i++) {
        enum emu_status status = check_table(root, &tables[i], reason);
        if (status != EMU_OK)
            return status;
    }
    return EMU_OK;
}
