/* How much do the control groups of this process still allow?
 *
 * The process's own group and all groups above it are read, in cgroup v2 and in the controllers of
 * v1, wherever they are mounted in the usual places; the tightest one counts. A container often
 * shows its own group as the root, so that the path in /proc/self/cgroup does not exist: then only
 * the root is left to read, which is the right one.
 */
#ifndef EMU_OS_CGROUP_H
#define EMU_OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_CGROUP_PATH_MAX 512

struct emu_cgroup_room {
    bool limited;
    uint64_t limit;                  /* bytes or processes */
    uint64_t used;                   /* page cache that can be dropped is not counted */
    uint64_t room;                   /* limit - used, 0 where used is more */
    char where[EMU_CGROUP_PATH_MAX]; /* the file that holds the limit */
};

/* root: "" for this machine; tests give a folder that holds proc/ and sys/. */
struct emu_cgroup_room emu_cgroup_memory(const char *root);
struct emu_cgroup_room emu_cgroup_processes(const char *root);

#endif
