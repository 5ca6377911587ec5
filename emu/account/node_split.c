#include "account/node_split.h"

uint32_t emu_node_inside(uint64_t size, uint64_t stride, uint64_t node_size)
{
    if (size == 1)
        return 1;
    if (node_size % (stride * size) == 0)
        return (uint32_t)size;
    if (stride % node_size == 0)
        return 1;
    if (node_size % stride == 0 && stride * size % node_size == 0)
        return (uint32_t)(node_size / stride);
    return 0;
}

/* Groups fill blocks of stride * size ranks. A border of a node inside a block parts at least one
 * of its groups; without one in any block nothing is parted. */
bool emu_node_crosses(uint64_t size, uint64_t stride, uint64_t node_size, uint64_t world)
{
    return size > 1 && world > node_size && node_size % (stride * size) != 0;
}
