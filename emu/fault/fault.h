/* Which faults can be injected, what does a SPEC say, and who may catch it?
 *
 * SPEC is `kind key=value...`, as in "crash rank=2 step=1 call=5 phase=deposit signal=SIGKILL". One
 * table (catalogue.c) names every kind with its parameters and the classes that may catch it; one
 * names every key. The parser, --list and the campaign read both.
 *
 * Address: `rank` is the process; `step` the training step (from 1); `call` the index, from 0,
 * among all calls of that rank (with `step`: of that step); `label` and `group` (an axis, an axis
 * list or world) what the call must have; without `call` the first such call is meant. `param` is a
 * glob on parameters. Every fault acts once in a run.
 *
 * What the injector does is known to nobody else: it changes calls, bytes, coefficients' causes and
 * processes, and what is counted here is read by the campaign alone.
 */
#ifndef EMU_FAULT_FAULT_H
#define EMU_FAULT_FAULT_H

#include "base/text.h"
#include "plan/plan.h"

#include <meshemu/finding.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By what a fault acts. */
enum emu_fault_means {
    EMU_FAULT_BY_PROCESS, /* the rank's own process, at a call */
    EMU_FAULT_BY_CALL,    /* the call itself is changed */
    EMU_FAULT_BY_PAYLOAD, /* the bytes that a call moves */
    EMU_FAULT_BY_ALGEBRA, /* how gradients are combined */
    EMU_FAULT_BY_STATE    /* what a rank starts from, reads or updates */
};

/* Enumerator, name in a SPEC. */
#define EMU_FAULT_LIST(X)                                                                          \
    X(EMU_FAULT_CRASH, "crash")                                                                    \
    X(EMU_FAULT_EXIT, "exit")                                                                      \
    X(EMU_FAULT_STOP, "stop")                                                                      \
    X(EMU_FAULT_STALL, "stall")                                                                    \
    X(EMU_FAULT_DELAY, "delay")                                                                    \
    X(EMU_FAULT_SKIP_CALL, "skip_call")                                                            \
    X(EMU_FAULT_REPEAT_CALL, "repeat_call")                                                        \
    X(EMU_FAULT_SWAP_CALLS, "swap_calls")                                                          \
    X(EMU_FAULT_WRONG_AXIS, "wrong_axis")                                                          \
    X(EMU_FAULT_WRONG_ROOT, "wrong_root")                                                          \
    X(EMU_FAULT_WRONG_OP, "wrong_op")                                                              \
    X(EMU_FAULT_WRONG_DTYPE, "wrong_dtype")                                                        \
    X(EMU_FAULT_WRONG_COUNT, "wrong_count")                                                        \
    X(EMU_FAULT_REDUCE_FOR_ALL_REDUCE, "reduce_for_all_reduce")                                    \
    X(EMU_FAULT_FLIP_DEPOSIT, "flip_deposit")                                                      \
    X(EMU_FAULT_FLIP_RESULT, "flip_result")                                                        \
    X(EMU_FAULT_FLIP_INPUT, "flip_input")                                                          \
    X(EMU_FAULT_NAN, "nan")                                                                        \
    X(EMU_FAULT_SKIP_REDUCE, "skip_reduce")                                                        \
    X(EMU_FAULT_DOUBLE_REDUCE, "double_reduce")                                                    \
    X(EMU_FAULT_REDUCE_WORLD, "reduce_world")                                                      \
    X(EMU_FAULT_WRONG_DIVISOR, "wrong_divisor")                                                    \
    X(EMU_FAULT_MEAN_OF_MEANS, "mean_of_means")                                                    \
    X(EMU_FAULT_DROP_MICROBATCH, "drop_microbatch")                                                \
    X(EMU_FAULT_REPEAT_MICROBATCH, "repeat_microbatch")                                            \
    X(EMU_FAULT_REDUCE_PARAMETER, "reduce_parameter")                                              \
    X(EMU_FAULT_REDUCE_PART, "reduce_part")                                                        \
    X(EMU_FAULT_SKIP_TIED, "skip_tied")                                                            \
    X(EMU_FAULT_DOUBLE_TIED, "double_tied")                                                        \
    X(EMU_FAULT_SKIP_SLICED, "skip_sliced")                                                        \
    X(EMU_FAULT_SLICE_DENOMINATOR, "slice_denominator")                                            \
    X(EMU_FAULT_SKIP_SCALE, "skip_scale")                                                          \
    X(EMU_FAULT_SKIP_NORM_SUM, "skip_norm_sum")                                                    \
    X(EMU_FAULT_AVERAGE_NORM, "average_norm")                                                      \
    X(EMU_FAULT_COUNT_PADDING, "count_padding")                                                    \
    X(EMU_FAULT_SEED_REPLICA, "seed_replica")                                                      \
    X(EMU_FAULT_SAME_SEED_TP, "same_seed_tp")                                                      \
    X(EMU_FAULT_SKIP_BROADCAST, "skip_broadcast")                                                  \
    X(EMU_FAULT_WRONG_SHARD, "wrong_shard")                                                        \
    X(EMU_FAULT_REPLICATE_SHARD, "replicate_shard")                                                \
    X(EMU_FAULT_SAME_DATA, "same_data")                                                            \
    X(EMU_FAULT_OTHER_DATA_TP, "other_data_tp")                                                    \
    X(EMU_FAULT_TRANSPOSED_MESH, "transposed_mesh")                                                \
    X(EMU_FAULT_SKIP_UPDATE, "skip_update")                                                        \
    X(EMU_FAULT_WRONG_HALO, "wrong_halo")                                                          \
    X(EMU_FAULT_SWAP_MICROBATCHES, "swap_microbatches")                                            \
    X(EMU_FAULT_SHIFT_SHARD, "shift_shard")                                                        \
    X(EMU_FAULT_SKIP_GATHER, "skip_gather")

enum emu_fault_kind {
#define EMU_FAULT_ENUMERATOR(name, text) name,
    EMU_FAULT_LIST(EMU_FAULT_ENUMERATOR)
#undef EMU_FAULT_ENUMERATOR
        EMU_FAULT_KIND_COUNT
};

#define EMU_FAULT_KEY_LIST(X)                                                                      \
    X(EMU_KEY_RANK, "rank")                                                                        \
    X(EMU_KEY_STEP, "step")                                                                        \
    X(EMU_KEY_CALL, "call")                                                                        \
    X(EMU_KEY_LABEL, "label")                                                                      \
    X(EMU_KEY_GROUP, "group")                                                                      \
    X(EMU_KEY_PHASE, "phase")                                                                      \
    X(EMU_KEY_PARAM, "param")                                                                      \
    X(EMU_KEY_SIGNAL, "signal")                                                                    \
    X(EMU_KEY_CODE, "code")                                                                        \
    X(EMU_KEY_TIME, "time")                                                                        \
    X(EMU_KEY_CONT_AFTER, "cont_after")                                                            \
    X(EMU_KEY_OVER, "over")                                                                        \
    X(EMU_KEY_ROOT, "root")                                                                        \
    X(EMU_KEY_OP, "op")                                                                            \
    X(EMU_KEY_DTYPE, "dtype")                                                                      \
    X(EMU_KEY_COUNT, "count")                                                                      \
    X(EMU_KEY_ELEMENT, "element")                                                                  \
    X(EMU_KEY_BIT, "bit")                                                                          \
    X(EMU_KEY_BY, "by")                                                                            \
    X(EMU_KEY_MICRO, "micro")

enum emu_fault_key {
#define EMU_FAULT_KEY_ENUMERATOR(name, text) name,
    EMU_FAULT_KEY_LIST(EMU_FAULT_KEY_ENUMERATOR)
#undef EMU_FAULT_KEY_ENUMERATOR
        EMU_FAULT_KEY_COUNT
};

#define EMU_FAULT_TEXT_MAX 64
#define EMU_FAULT_SPEC_MAX 256
#define EMU_FAULTS_MAX 64 /* in one run */

/* What wrong_divisor divides by instead of the valid tokens of the step. */
enum emu_fault_divisor { EMU_DIVIDE_BY_WORLD, EMU_DIVIDE_BY_DP, EMU_DIVIDE_BY_LOCAL_TOKENS };

struct emu_fault_value {
    bool given;
    uint64_t number; /* a word's enumerator, nanoseconds, a plain number */
    char text[EMU_FAULT_TEXT_MAX];
};

struct emu_fault {
    enum emu_fault_kind kind;
    struct emu_fault_value value[EMU_FAULT_KEY_COUNT];
    char spec[EMU_FAULT_SPEC_MAX]; /* as written */
};

static inline bool emu_fault_has(const struct emu_fault *fault, enum emu_fault_key key)
{
    return fault->value[key].given;
}

static inline uint64_t emu_fault_number(const struct emu_fault *fault, enum emu_fault_key key,
                                        uint64_t otherwise)
{
    return fault->value[key].given ? fault->value[key].number : otherwise;
}

/* One row of the catalogue. */
struct emu_fault_row {
    enum emu_fault_means means;
    uint32_t keys;    /* bits of the keys that it takes */
    uint32_t needed;  /* of these, the ones it cannot do without */
    uint64_t classes; /* bits of the classes that may catch it somewhere; see expectation.h */
    const char *help; /* one line, no full stop */
};
const struct emu_fault_row *emu_fault_row(enum emu_fault_kind kind);
const char *emu_fault_name(enum emu_fault_kind kind);
const char *emu_fault_key_name(enum emu_fault_key key);

/* Where a SPEC is wrong. */
struct emu_fault_error {
    size_t offset, length; /* bytes of the SPEC */
    char message[256];     /* what is wrong, what is allowed, a suggestion */
};

/* Read one SPEC against the groups of a roster. plan: NULL where there is none (a program of one's
 * own); then kinds that need the training step are refused. EMU_EPARSE with *error. */
EMU_MUST_CHECK enum emu_status emu_fault_parse(const char *spec, const struct emu_roster *roster,
                                               const struct emu_plan *plan, struct emu_fault *fault,
                                               struct emu_fault_error *error);

#endif
