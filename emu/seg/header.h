/* Is this mapping ours, and does the run go on?
 *
 *   0     magic, layout, world, sizes   written once before the first fork, then constant
 *   64    abort                         one line: 0, or the first cause
 *   128   news                          one line: a counter, a futex word
 *   192   failed                        one line: number of ranks known to be gone
 *   256   sleepy_until                  one line: until then nobody yields (monotonic ns)
 *   4096
 *
 * word          writers     readers   order            publishes          a stale read costs
 * abort         any, first  all       seq_cst          the end of the     one more round of a wait
 *               wins                                   run                loop; see board sleeps_on
 * news          any         launcher  release/acquire  what was done      nothing: the kernel
 *                                                      before the post    compares the word
 * failed        launcher    gate,     release/acquire  board.gone_ns      one more look, after the
 *                           messages                                      wake that follows
 * sleepy_until  any         all       relaxed          nothing: a hint    a yield or a sleep more
 */
#ifndef EMU_SEG_HEADER_H
#define EMU_SEG_HEADER_H

#include "seg/segment.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#define EMU_LINE 64
#define EMU_PAGE UINT64_C(4096)
#define EMU_SEGMENT_MAX_WORLD (UINT64_C(1) << 21) /* processes of one kernel are fewer */

/* One strip a rank, in pages side by side: its board, and its flight recorder right behind. Every
 * call of the rank writes to both. */
#define EMU_STRIP_BYTES (5 * EMU_PAGE)
#define EMU_STRIP_RECORDER 2048

struct emu_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t world;
    uint64_t bytes;
    uint64_t arena_bytes;
    uint64_t record_bytes;
    alignas(
        EMU_LINE) _Atomic uint32_t abort; /* a line of what waits read and hardly anyone writes */
    _Atomic uint64_t sleepy_until;        /* relaxed: a hint, all orders do */
    alignas(EMU_LINE) _Atomic uint32_t news;
    alignas(EMU_LINE) _Atomic uint32_t failed;
};

_Static_assert(sizeof(struct emu_header) <= 4096, "the header is one page");
_Static_assert(offsetof(struct emu_header, abort) == 64, "one line a word");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "locks of a library are private to a process");

static inline struct emu_header *emu_header_of(const struct emu_segment *segment)
{
    return (struct emu_header *)(void *)segment->base;
}

#endif
