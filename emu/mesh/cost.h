/* How many bytes does a call cost the rank that makes it? A stated cost, not what a backend copies.
 *
 * What a member sends under the ring algorithms (R. Thakur et al., Optimization of collective
 * communication operations in MPICH, 2005; NCCL's bus bandwidth counts alike), n members, B bytes
 * of payload as emu_call.count says it, rounded down once:
 *
 *   all_reduce                                     2 (n-1)/n B
 *   reduce_scatter, all_to_all, all_gather CHUNKS  (n-1)/n B
 *   all_gather EQUAL                               (n-1) B
 *   broadcast, reduce, gather EQUAL, send          B
 *   gather CHUNKS, scatter                         (n-1)/n B
 *   barrier, recv                                  0
 *
 * In a group of one nothing is sent. Coefficients that travel with a call are not counted.
 */
#ifndef EMU_MESH_COST_H
#define EMU_MESH_COST_H

#include <meshemu/comm.h>

#include <stdint.h>

/* bytes: count * size of the dtype; must be below 2^63 / members. */
uint64_t emu_cost_bytes(enum emu_kind kind, enum emu_layout layout, uint64_t bytes,
                        uint32_t members);

#endif
