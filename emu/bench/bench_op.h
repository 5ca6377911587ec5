/* What does a collective move in a benchmark, and which part of it crosses a link?
 *
 * The size of a row is that of the whole vector, as in nccl-tests and in the MPI peer of
 * tests/bench: broadcast, reduce, all_reduce the vector; reduce_scatter, all_to_all, scatter the
 * input before it is split; all_gather, gather the output once it is joined; sendrecv the message.
 * Sizes of ops that split or join are rounded down to a multiple of the ranks; no op gets less than
 * one element (a rank).
 *
 * algbw = bytes / mean time. busbw = algbw * factor, which makes ops and numbers of ranks
 * comparable with the speed of a link; the factors are those of nccl-tests, doc/PERFORMANCE.md:
 *   all_reduce 2(n-1)/n · reduce_scatter, all_gather, all_to_all, gather, scatter (n-1)/n ·
 *   broadcast, reduce, sendrecv 1 · barrier 0, it moves nothing
 *
 * sendrecv (every member sends to the next one of its group and receives from the one before) is
 * no kind of call of its own: EMU_SEND stands for it here.
 */
#ifndef EMU_BENCH_BENCH_OP_H
#define EMU_BENCH_BENCH_OP_H

#include <meshemu/comm.h>

#include <stdbool.h>

#define EMU_BENCH_OPS 10

/* All ops, in the order in which they run where none is asked for. */
extern const enum emu_kind emu_bench_ops[EMU_BENCH_OPS];

const char *emu_bench_op_name(enum emu_kind op);

/* false: no such op. */
bool emu_bench_op_find(const char *name, enum emu_kind *op);

/* All in elements but `bytes`. */
struct emu_bench_shape {
    uint64_t count;  /* of struct emu_call */
    uint64_t input;  /* of a member that puts something in */
    uint64_t output; /* of a member that gets something */
    uint64_t bytes;  /* of the whole vector */
};

/* The shape nearest to `bytes` from below; bytes < 2^60. */
struct emu_bench_shape emu_bench_shape_of(enum emu_kind op, enum emu_dtype dtype, uint32_t ranks,
                                          uint64_t bytes);

/* busbw / algbw. ranks > 0. */
double emu_bench_bus_factor(enum emu_kind op, uint32_t ranks);

/* Does this member put something in, and does it get something? */
bool emu_bench_op_reads(enum emu_kind op, bool is_root);
bool emu_bench_op_writes(enum emu_kind op, bool is_root);

#endif
