/* Where does memory come from that several processes share?
 *
 * One anonymous mapping: a memfd, or where the kernel has none an object in /dev/shm that is
 * unlinked at once and whose pages are reserved (ftruncate alone would succeed on a full /dev/shm,
 * and the first touch would kill with SIGBUS). The descriptor is closed after mapping: whatever
 * dies, and however, nothing is left. Sizes are checked against the limits before a byte is
 * touched.
 */
#ifndef EMU_OS_MAP_H
#define EMU_OS_MAP_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

enum emu_map_source {
    EMU_MAP_BEST,  /* memfd, or /dev/shm where there is no memfd */
    EMU_MAP_NAMED, /* /dev/shm, for tests of that path */
};

struct emu_map {
    void *base; /* zeroed, page-aligned; NULL: nothing mapped */
    uint64_t bytes;
};

/* Map `bytes` (> 0), shared with every process forked later.
 * advice   how the user can need less, for the reason
 * returns  EMU_OK, EMU_ESYSTEM with the reason; then nothing is left */
EMU_MUST_CHECK enum emu_status emu_map_create(uint64_t bytes, enum emu_map_source source,
                                              const char *advice, struct emu_map *map,
                                              struct emu_reason *reason);

/* Bytes of the map that the kernel charges to this process: of each page in its page tables, the
 * page divided by the processes that have it in theirs (PSS, /proc/self/smaps). false: it cannot
 * be read; *bytes is then unchanged. */
bool emu_map_pss(const struct emu_map *map, uint64_t *bytes);

/* Accepts a zeroed map. */
void emu_map_destroy(struct emu_map *map);

#endif
