/* How do nodes cut the axes of a mesh? A node is `size` consecutive ranks.
 *
 * An axis is regular where every one of its groups has the same number of members in each node it
 * touches: wholly inside a node, one member a node, or `inside` members in each of several nodes.
 * Where all axes are regular, any set of groups that fixes some coordinates falls into nodes along
 * the outer parts of its coordinates alone.
 */
#ifndef EMU_ACCOUNT_NODE_SPLIT_H
#define EMU_ACCOUNT_NODE_SPLIT_H

#include <meshemu/mesh.h>

/* Members of a group over an axis of this size and stride that share a node; 0: not regular. */
uint32_t emu_node_inside(uint64_t size, uint64_t stride, uint64_t node_size);

/* true: some group over the axis has members in two nodes. */
bool emu_node_crosses(uint64_t size, uint64_t stride, uint64_t node_size, uint64_t world);

#endif
