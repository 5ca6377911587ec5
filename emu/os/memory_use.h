/* How much memory does the calling process cost, with its share of what it has in common? */
#ifndef EMU_OS_MEMORY_USE_H
#define EMU_OS_MEMORY_USE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_memory_use {
    uint64_t pss_bytes;    /* resident pages, each divided by its users: /proc/self/smaps_rollup */
    uint64_t tables_bytes; /* page tables, which the kernel holds for it: VmPTE */
};

/* false: /proc does not tell; *use is then unchanged. */
bool emu_memory_use(struct emu_memory_use *use);

#endif
