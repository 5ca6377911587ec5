/* Have the tables of the kernel room for a mesh? Asked before anything is started, like limits.h.
 *
 *   kernel.pid_max             numbers of processes and threads; the first 300 are used once
 *   kernel.threads-max         processes and threads at all
 *   fs.file-max                open files of all processes, but not those of root
 *   fs.epoll.max_user_watches  what one user watches
 *
 * vm.max_map_count is not among them: it bounds the mappings of one process, and those of a rank
 * and of the launcher (a few dozen) do not grow with the ranks.
 */
#ifndef EMU_OS_KERNEL_LIMITS_H
#define EMU_OS_KERNEL_LIMITS_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

struct emu_kernel_demand {
    uint64_t tasks;   /* more processes and threads */
    uint64_t files;   /* more open files, counted once however many processes inherit them */
    uint64_t watches; /* descriptors in sets of os/watch.h */
    bool is_root;
};

/* root as in limits.h. A table that cannot be read has no limit. EMU_ESYSTEM with the reason. */
EMU_MUST_CHECK enum emu_status emu_limits_check_kernel(const char *root,
                                                       const struct emu_kernel_demand *demand,
                                                       struct emu_reason *reason);

#endif
