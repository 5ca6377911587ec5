/* How much of a shared map is charged to this process? Read from /proc/self/smaps, where each area
 * begins with "FIRST-END ..." in hexadecimal and has a line "Pss: N kB". */
#include "os/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Is this the head of an area, and does it lie in the map? */
static bool enters(const char *line, const struct emu_map *map, bool *inside)
{
    uint64_t first;
    uint64_t end;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &first, &end) != 2)
        return false;
    uint64_t base = (uint64_t)(uintptr_t)map->base;
    *inside = first < base + map->bytes && end > base;
    return true;
}

static bool add_areas(FILE *file, const struct emu_map *map, uint64_t *bytes)
{
    char *line = NULL;
    size_t room = 0;
    bool inside = false;
    bool found = false;
    *bytes = 0;
    while (getline(&line, &room, file) > 0) {
        uint64_t kilobytes;
        if (enters(line, map, &inside) || !inside)
            continue;
        if (sscanf(line, "Pss: %" SCNu64 " kB", &kilobytes) != 1)
            continue;
        found = true;
        *bytes += 1024 * kilobytes;
    }
    free(line);
    return found;
}

bool emu_map_pss(const struct emu_map *map, uint64_t *bytes)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    uint64_t sum;
    if (!file)
        return false;
    bool found = add_areas(file, map, &sum) && !ferror(file);
    fclose(file);
    if (found)
        *bytes = sum;
    return found;
}
