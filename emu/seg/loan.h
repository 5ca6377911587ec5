/* Who works on buffers that are lent, and when may their owner have them back?
 *
 * Where all members lend their buffers, and all signatures agree, the slot goes to LENT. The work
 * is cut into units, numbered alike by everyone; members that run on different cores take them from
 * one counter and write every output themselves. The last unit completes the slot.
 *
 *   a member that waits for this call alone sets WAITS in its course; who comes last looks whether
 *   one of the leaders does, and works itself if not: somebody does.
 *
 *   worker                                        owner of a buffer, the call being broken
 *     course |= WORKS             seq_cst           word: LENT -> PEER     by one compare-and-swap
 *     word still LENT? else leave seq_cst           any course with WORKS, of a rank that lives?
 *     take units, write outputs                     then sleep: the worker ticks the word when it
 *     course &= ~WORKS, tick if broken              leaves, the launcher when it is gone
 *
 * Either the worker sees that the call is broken, or the owner sees that it works (both store
 * first and look then). So nobody writes to a buffer whose owner has had its answer.
 *
 * course is written by its member alone. A run that was ended (EMU_EABORTED) does not wait for
 * workers: the outputs of its last calls are undefined, and may change.
 */
#ifndef EMU_SEG_LOAN_H
#define EMU_SEG_LOAN_H

#include "seg/slot.h"

/* The member will do nothing but wait for this call, which it has signed. */
void emu_loan_wait(const struct emu_ring *ring, uint64_t index, uint32_t member);

/* Does it? Only of a member that has signed the call. */
bool emu_loan_waits(const struct emu_ring *ring, uint64_t index, uint32_t member);

/* Begin to work: true while the call is LENT. Leave after that in any case. */
bool emu_loan_enter(const struct emu_ring *ring, uint64_t index, uint32_t member);

/* The number of a unit that is the caller's to do; any number from `total` on: there is none left.
 * false: the call is broken, do no more. */
bool emu_loan_take(const struct emu_ring *ring, uint64_t index, uint64_t *unit);

/* The caller writes to no buffer any more; it has done so many units since it entered. Who brings
 * the sum to total completes the call. order: release of what it wrote. */
void emu_loan_leave(const struct emu_ring *ring, uint64_t index, uint32_t member,
                    const uint64_t done_and_total[2]);

/* Of a broken call: does no living member work on it any more? order: acquire. */
bool emu_loan_is_quiet(const struct emu_ring *ring, uint64_t index);

/* Buffers of a member that has signed and lent; NULL: it has none. */
const unsigned char *emu_loan_input(const struct emu_ring *ring, uint64_t index, uint32_t member);
unsigned char *emu_loan_output(const struct emu_ring *ring, uint64_t index, uint32_t member);
unsigned char *emu_loan_ledger(const struct emu_ring *ring, uint64_t index, uint32_t member);

#endif
