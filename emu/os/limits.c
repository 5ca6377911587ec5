#include "os/limits.h"

#include "os/cgroup.h"
#include "os/file.h"
#include "os/stream.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Number behind "Name:" in a text like /proc/meminfo; false where there is no such row. */
static bool row_value(const char *text, const char *name, uint64_t *value)
{
    const char *at = strstr(text, name);
    if (!at)
        return false;
    *value = strtoull(at + strlen(name), NULL, 10);
    return true;
}

static enum emu_status check_address_space(uint64_t bytes, const char *advice,
                                           struct emu_reason *reason)
{
    struct rlimit limit;
    char text[128];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return EMU_OK;
    emu_file_peek("/proc/self/statm", text, sizeof text);
    uint64_t used = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t room = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    if (bytes <= room)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the shared segment needs %s, the limit on address space allows %s more: "
                          "%s, or raise it with: ulimit -v unlimited",
                          emu_size_text(bytes).text, emu_size_text(room).text, advice);
}

static enum emu_status check_file_size(uint64_t bytes, const char *advice,
                                       struct emu_reason *reason)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        bytes <= limit.rlim_cur)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the shared segment needs %s, the limit on file sizes allows %s: %s, or "
                          "raise it with: ulimit -f unlimited",
                          emu_size_text(bytes).text, emu_size_text(limit.rlim_cur).text, advice);
}

/* Memory that will be touched, and how to say so. */
struct demand {
    uint64_t bytes;
    const char *what;
    const char *advice;
};

static enum emu_status check_available(const char *root, const struct demand *demand,
                                       struct emu_reason *reason)
{
    char name[EMU_CGROUP_PATH_MAX], text[4096];
    uint64_t available, swap = 0;
    snprintf(name, sizeof name, "%s/proc/meminfo", root);
    if (!emu_file_peek(name, text, sizeof text) || !row_value(text, "MemAvailable:", &available))
        return EMU_OK;
    if (!row_value(text, "SwapFree:", &swap))
        swap = 0;
    uint64_t room = (available + swap) * 1024;
    if (demand->bytes <= room)
        return EMU_OK;
    return emu_reason_set(
        reason, "%s %s, the machine has %s of memory available: %s, or end other programs",
        demand->what, emu_size_text(demand->bytes).text, emu_size_text(room).text, demand->advice);
}

static enum emu_status check_group(const char *root, const struct demand *demand,
                                   struct emu_reason *reason)
{
    struct emu_cgroup_room group = emu_cgroup_memory(root);
    if (!group.limited || demand->bytes <= group.room)
        return EMU_OK;
    return emu_reason_set(reason, "%s %s, the memory cgroup allows %s (%s in use): %s, or raise %s",
                          demand->what, emu_size_text(demand->bytes).text,
                          emu_size_text(group.limit).text, emu_size_text(group.used).text,
                          demand->advice, group.where);
}

enum emu_status emu_limits_check_memory(const char *root, uint64_t bytes, const char *advice,
                                        struct emu_reason *reason)
{
    struct demand demand = {bytes, "the shared segment needs", advice};
    enum emu_status status = check_address_space(bytes, advice, reason);
    if (status == EMU_OK)
        status = check_file_size(bytes, advice, reason);
    if (status == EMU_OK)
        status = check_available(root, &demand, reason);
    return status == EMU_OK ? check_group(root, &demand, reason) : status;
}

enum emu_status emu_limits_check_ranks(const char *root, uint64_t segment_bytes, uint32_t ranks,
                                       struct emu_reason *reason)
{
    char what[160];
    uint64_t each = EMU_LIMITS_RANK_BYTES;
    struct demand demand = {UINT64_MAX, what, "use fewer ranks"};
    if (segment_bytes <= UINT64_MAX - ranks * each)
        demand.bytes = segment_bytes + ranks * each;
    snprintf(what, sizeof what, "%" PRIu32 " processes of about %s and a shared segment of %s need",
             ranks, emu_size_text(each).text, emu_size_text(segment_bytes).text);
    enum emu_status status = check_available(root, &demand, reason);
    return status == EMU_OK ? check_group(root, &demand, reason) : status;
}

/* Tasks of the whole machine, from "0.1 0.2 0.3 running/total last": an upper bound that costs one
 * read. */
static uint64_t tasks_of_all(void)
{
    char text[128];
    if (!emu_file_peek("/proc/loadavg", text, sizeof text))
        return UINT64_MAX;
    const char *slash = strchr(text, '/');
    return slash ? strtoull(slash + 1, NULL, 10) : UINT64_MAX;
}

/* Threads of one process, if the user owns it. */
static uint64_t tasks_of_process(const char *pid, uid_t user)
{
    char name[64], text[2048];
    uint64_t owner, threads;
    snprintf(name, sizeof name, "/proc/%.32s/status", pid);
    if (!emu_file_peek(name, text, sizeof text) || !row_value(text, "\nUid:", &owner) ||
        !row_value(text, "\nThreads:", &threads))
        return 0;
    return owner == user ? threads : 0;
}

static uint64_t tasks_of_user(uid_t user)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return 0;
    uint64_t count = 0;
    for (struct dirent *entry = readdir(processes); entry; entry = readdir(processes))
        if (isdigit((unsigned char)entry->d_name[0]))
            count += tasks_of_process(entry->d_name, user);
    closedir(processes);
    return count;
}

static enum emu_status check_process_limit(uint32_t count, struct emu_reason *reason)
{
    struct rlimit limit;
    if (getuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return EMU_OK;
    uint64_t bound = tasks_of_all();
    if (bound < limit.rlim_cur && count <= limit.rlim_cur - bound)
        return EMU_OK;
    uint64_t used = tasks_of_user(getuid());
    uint64_t room = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    if (count <= room)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the mesh needs %" PRIu32
                          " processes and threads, the limit of this user "
                          "allows %" PRIu64 " more: use fewer ranks, or raise it with: ulimit -u "
                          "%" PRIu64,
                          count, room, used + count);
}

enum emu_status emu_limits_check_processes(const char *root, uint32_t count,
                                           struct emu_reason *reason)
{
    enum emu_status status = check_process_limit(count, reason);
    if (status != EMU_OK)
        return status;
    struct emu_cgroup_room group = emu_cgroup_processes(root);
    if (!group.limited || count <= group.room)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the mesh needs %" PRIu32
                          " processes and threads, the pids cgroup allows "
                          "%" PRIu64 " more: use fewer ranks, or raise %s (now %" PRIu64 ")",
                          count, group.room, group.where, group.limit);
}

enum emu_status emu_limits_check_files(uint64_t count, struct emu_reason *reason)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return EMU_OK;
    uint64_t used = emu_stream_count();
    uint64_t room = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    if (count <= room)
        return EMU_OK;
    return emu_reason_set(reason,
                          "the mesh needs %" PRIu64 " more open files, the limit allows %" PRIu64
                          ": use fewer ranks, or raise it with: ulimit -n %" PRIu64,
                          count, room, used + count);
}
