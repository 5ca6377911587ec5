/* What was asked of a benchmark, and what was measured?
 *
 * Rows are planned before a process exists, lie in memory that all ranks share, and are read by the
 * launcher when the ranks are gone (so a row stands even if a later one ends the run).
 *
 * word           writers              readers             order     a stale read costs
 * measured       rank 0, once a row   launcher, at the    release   nothing: the ranks are gone
 *                                     end
 * iterations,    rank 0, before a     ranks after it;     plain     -
 * warmup         barrier of the world launcher at the end
 * slowest_ns     all, max             launcher, at the    relaxed   nothing
 * wrong checked  all, +n              end                 relaxed   nothing
 * claimed        all, who is first    nobody              relaxed   nothing: it is a CAS
 * complaint      who claimed          launcher, at the    plain     -
 *                                     end
 * launch.*       all, max or +n       launcher, at the    relaxed   nothing
 *                                     end
 * arrivals[r]    rank r               members of its      release   a false alarm; the barrier
 *                                     group               acquire   under test must prevent it
 */
#ifndef EMU_BENCH_BENCH_ROWS_H
#define EMU_BENCH_BENCH_ROWS_H

#include "bench/bench_data.h"
#include "bench/byte_range.h"
#include "mesh/roster.h"
#include "os/map.h"

#include <stdatomic.h>
#include <stdbool.h>

#define EMU_BENCH_ROOT_MOVES (-1) /* by one with every call, so that no rank runs ahead */
#define EMU_BENCH_MAX_ITERATIONS UINT64_C(1000000)
#define EMU_BENCH_MAX_COEFFICIENTS UINT64_C(1048576)

struct emu_bench_request {
    const struct emu_roster *roster; /* borrowed */
    uint32_t family;                 /* its groups run at the same time */
    enum emu_kind ops[EMU_BENCH_OPS];
    uint32_t op_count;
    struct emu_byte_range range;
    enum emu_dtype dtype;
    enum emu_op reduce;
    int64_t root; /* group rank, or EMU_BENCH_ROOT_MOVES */
    bool in_place;
    bool pin;              /* rank i to allowed processor i modulo their number */
    bool checksums;        /* of payloads, as `run` has them */
    uint32_t coefficients; /* exact ones, that travel with every call but messages */
    bool launch;           /* tell of the launch, too */
    uint64_t iterations;   /* 0: as many as fit into time_ns, 5 to 20000 */
    uint64_t time_ns;      /* of a row */
    int64_t warmup;        /* calls; -1: 1 to 20, at most a quarter of time_ns */
};

struct emu_bench_row {
    enum emu_kind op;
    struct emu_bench_shape shape;
    uint64_t iterations;
    uint64_t warmup;
    double median_ns, p99_ns; /* of rank 0's calls, back to back */
    _Atomic uint32_t measured;
    _Atomic uint32_t claimed;
    _Atomic uint64_t slowest_ns; /* all iterations, of the rank that took longest */
    _Atomic uint64_t checked;    /* calls that a rank has verified */
    _Atomic uint64_t wrong;      /* elements and coefficients; barrier: members not arrived */
    uint32_t complaining;        /* the rank, where wrong */
    struct emu_bench_complaint complaint;
};

/* What it took to bring the ranks up: from begun_ns until the last one came out of the first
 * barrier of the world. Memory at the end, where all ranks could tell (told = world). */
struct emu_bench_launch {
    uint64_t begun_ns;           /* launcher, before the ranks; read by them */
    _Atomic uint64_t barrier_ns; /* max */
    _Atomic uint64_t told, pss_sum, pss_most, tables_sum, tables_most; /* ranks, bytes */
};

struct emu_bench {
    struct emu_bench_request request;
    uint64_t row_count;
    uint64_t buffer_bytes; /* of the largest row; input and output have that much each */
    struct emu_map map;
    struct emu_bench_row *rows; /* in the map, as all below */
    _Atomic uint32_t *refused;  /* ranks that could not be pinned */
    struct emu_bench_launch *launch;
    _Atomic uint64_t *arrivals; /* world entries */
};

/* Why this op cannot run with the request's dtype, reduction and place; NULL: it can. */
const char *emu_bench_obstacle(const struct emu_bench_request *request, enum emu_kind op);

/* Plan the rows and map them. EMU_ESYSTEM with the reason. */
EMU_MUST_CHECK enum emu_status emu_bench_create(const struct emu_bench_request *request,
                                                struct emu_bench *bench, struct emu_reason *reason);
void emu_bench_finish(struct emu_bench *bench);

/* Bytes of arena that each rank needs. */
uint64_t emu_bench_arena_bytes(const struct emu_bench *bench);

/* Was it measured, and did every rank find every element right, before and after the timing? */
bool emu_bench_row_measured(const struct emu_bench_row *row);
bool emu_bench_row_correct(const struct emu_bench *bench, const struct emu_bench_row *row);

/* All rows measured and correct. */
bool emu_bench_passed(const struct emu_bench *bench);

struct emu_bench_figures {
    double median_us, p99_us;
    double mean_us;      /* the slowest rank's whole time / iterations */
    double algbw, busbw; /* GB/s (10^9), from the mean */
};
struct emu_bench_figures emu_bench_row_figures(const struct emu_bench *bench,
                                               const struct emu_bench_row *row);

#endif
