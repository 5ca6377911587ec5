/* Which way do the bytes of a collective go?
 *
 *   way     who does what                                        for which payloads
 *   each    members deposit, everyone folds or copies for        short, members <= cores; of
 *           itself                                               larger groups what nobody folds
 *   last    members deposit, who comes last folds for all, the   short, more members than cores:
 *           others copy its result                               one switch of the core per rank
 *   lent    nobody deposits; when all agree, members on          long, all buffers in the segment,
 *           different cores take units of the work from one      and nobody is shown deposits
 *           counter, fold in the cache, write every output
 *   rounds  members deposit chunk by chunk, everyone takes for   long, else
 *           itself
 *
 * Every way folds in the order of group ranks, element by element, so the bits are the same. The
 * choice depends on the call's signature and on this table alone, which is made once by the
 * launcher: all members of a group choose alike.
 *
 * units: bytes of the largest input of a member, with the coefficients. The defaults, on two cores:
 * among 2 ranks lending costs about what it saves at 2 KiB. Among 4 to 128 ranks an all_reduce of 4
 * KiB took 1.1 to 1.7 times as long where the last one folds as lent, one of 8 KiB 1.2 to 2.7; an
 * all_gather or broadcast of 4 to 8 KiB, where nobody folds, 0.9 to 1.1. Units of 32 KiB beat those
 * of 16 by 5 to 15 % for 256 KiB. Beside a cache of 32 MiB writing past it took 1.8 times as long
 * as through it for an all_gather of 18 MiB in all, 0.9 for one of 36; 1.7 and 0.65 for an
 * all_reduce of 16 and 32; 1.27 and 0.77 for a broadcast of 8 and 16: three quarters of the cache
 * lie between, and three eighths. Table: emu/bench/measured.md.
 *
 * In rounds each member verifies and folds for itself: with checksums and 32 coefficients an
 * all_reduce of 4 KiB to 1 MiB among 2 ranks took 1.2 to 3 times as long in rounds as lent, one of
 * 8 KiB and more among 8 ranks 1.6 to 5 times, among 32 1.4 to 15. So the choice does not ask for
 * them.
 */
#ifndef EMU_SEG_WAYS_H
#define EMU_SEG_WAYS_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

struct emu_ways {
    uint32_t cores;          /* a group of more members than these takes turns on them */
    uint64_t lend_from_few;  /* inputs above this are lent, in groups of up to `cores` */
    uint64_t lend_from_many; /* in larger groups; four times that where nothing is folded */
    uint64_t unit_bytes;     /* most of an input that is worked on at a time */
    uint64_t stream_from;    /* outputs are written past the cache where those of all members and
                                their inputs have so many bytes, half of it in a broadcast or
                                scatter; but not where they are less than half of the inputs. From
                                a quarter of it on wide groups fetch their inputs ahead. */
};

/* cores: processors the ranks may use, at least 1. */
struct emu_ways emu_ways_of(uint32_t cores);

/* "few=4096,unit=8192": the values of EMU_WAYS_LIST named here, in place of those in *ways; NULL
 * names none. EMU_EINVAL with the reason: an unknown name, no number, out of its bounds. */
#define EMU_WAYS_LIST(X)                                                                           \
    X(cores, "cores", 1, UINT32_MAX, 1)                                                            \
    X(lend_from_few, "few", 0, UINT64_MAX, 1)                                                      \
    X(lend_from_many, "many", 0, UINT64_MAX, 1)                                                    \
    X(unit_bytes, "unit", 64, 1 << 20, 64)                                                         \
    X(stream_from, "stream", 0, UINT64_MAX, 1)
EMU_MUST_CHECK enum emu_status emu_ways_parse(const char *text, struct emu_ways *ways,
                                              struct emu_reason *reason);

/* The ways of this machine, with what the environment variable MESHEMU_WAYS fixes. */
EMU_MUST_CHECK enum emu_status emu_ways_here(struct emu_ways *ways, struct emu_reason *reason);

/* Is an input of this size lent, by a group of `size`, if all else allows it? */
static inline bool emu_ways_lend(const struct emu_ways *ways, uint32_t size, uint64_t bytes,
                                 bool folds)
{
    uint64_t many = ways->lend_from_many;
    if (size <= ways->cores)
        return bytes > ways->lend_from_few;
    if (!folds)
        many = many > UINT64_MAX / 4 ? UINT64_MAX : 4 * many;
    return bytes > many;
}

/* Does who comes last fold for all? */
static inline bool emu_ways_last_folds(const struct emu_ways *ways, uint32_t size)
{
    return size > ways->cores;
}

#endif
