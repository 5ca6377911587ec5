#include "fault/fault.h"

#include <assert.h>

#define KEY(name) (UINT32_C(1) << EMU_KEY_##name)
#define CLASS(name) (UINT64_C(1) << EMU_CLASS_##name)

#define CALL_ADDRESS (KEY(RANK) | KEY(STEP) | KEY(CALL) | KEY(LABEL) | KEY(GROUP))
#define REDUCTION_ADDRESS (KEY(STEP) | KEY(PARAM))
#define STATE_ADDRESS (KEY(RANK) | KEY(PARAM))

/* A rank that is one call ahead or behind: what it meets depends on what comes next. */
#define OUT_OF_STEP                                                                                \
    (CLASS(ORDER_MISMATCH) | CLASS(COUNT_MISMATCH) | CLASS(OP_MISMATCH) | CLASS(DTYPE_MISMATCH) |  \
     CLASS(ROOT_MISMATCH) | CLASS(GROUP_MISMATCH) | CLASS(MISSING_PARTICIPANT) | CLASS(DEADLOCK) | \
     CLASS(TRUNCATION) | CLASS(TAG_MISMATCH) | CLASS(LOST_MESSAGE))
/* Values differ: between copies where the result is one, from the oracle where all copies agree. */
#define WRONG_VALUES (CLASS(REPLICA_DIVERGENCE) | CLASS(ORACLE_MISMATCH) | CLASS(NONFINITE))

static const struct emu_fault_row rows[EMU_FAULT_KIND_COUNT] = {
    [EMU_FAULT_CRASH] = {EMU_FAULT_BY_PROCESS, CALL_ADDRESS | KEY(PHASE) | KEY(SIGNAL), KEY(RANK),
                         CLASS(CRASH), "the rank dies of a signal (default SIGKILL)"},
    [EMU_FAULT_EXIT] = {EMU_FAULT_BY_PROCESS, CALL_ADDRESS | KEY(PHASE) | KEY(CODE), KEY(RANK),
                        CLASS(EARLY_EXIT), "the rank exits (default code 1)"},
    [EMU_FAULT_STOP] = {EMU_FAULT_BY_PROCESS, CALL_ADDRESS | KEY(PHASE) | KEY(CONT_AFTER),
                        KEY(RANK), CLASS(STOPPED),
                        "the rank gets SIGSTOP, and SIGCONT after cont_after (default: never)"},
    [EMU_FAULT_STALL] = {EMU_FAULT_BY_PROCESS, CALL_ADDRESS | KEY(PHASE), KEY(RANK), CLASS(STALL),
                         "the rank sleeps for ever; seen against stall_after or --timeout"},
    [EMU_FAULT_DELAY] = {EMU_FAULT_BY_PROCESS, CALL_ADDRESS | KEY(PHASE) | KEY(TIME), KEY(RANK),
                         CLASS(STRAGGLER),
                         "the rank sleeps for a time (default 50ms); a late rank is no fault"},
    [EMU_FAULT_SKIP_CALL] = {EMU_FAULT_BY_CALL, CALL_ADDRESS, KEY(RANK), OUT_OF_STEP,
                             "the call is not made and answers success"},
    [EMU_FAULT_REPEAT_CALL] = {EMU_FAULT_BY_CALL, CALL_ADDRESS, KEY(RANK), OUT_OF_STEP,
                               "the call is made twice"},
    [EMU_FAULT_SWAP_CALLS] = {EMU_FAULT_BY_CALL, CALL_ADDRESS, KEY(RANK), OUT_OF_STEP,
                              "the call is made after the next one"},
    [EMU_FAULT_WRONG_AXIS] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(OVER), KEY(RANK), OUT_OF_STEP,
                              "the call goes to another group (default: another axis)"},
    [EMU_FAULT_WRONG_ROOT] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(ROOT), KEY(RANK),
                              CLASS(ROOT_MISMATCH), "another root (default: the next member)"},
    [EMU_FAULT_WRONG_OP] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(OP), KEY(RANK),
                            CLASS(OP_MISMATCH), "another reduce op (default: max for sum)"},
    [EMU_FAULT_WRONG_DTYPE] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(DTYPE), KEY(RANK),
                               CLASS(DTYPE_MISMATCH), "another dtype (default: i64, or f64)"},
    [EMU_FAULT_WRONG_COUNT] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(COUNT), KEY(RANK),
                               CLASS(COUNT_MISMATCH), "another count (default: one more)"},
    [EMU_FAULT_REDUCE_FOR_ALL_REDUCE] = {EMU_FAULT_BY_CALL, CALL_ADDRESS | KEY(ROOT), KEY(RANK),
                                         CLASS(ORDER_MISMATCH),
                                         "a reduce (default root 0) where an all_reduce is due"},
    [EMU_FAULT_FLIP_DEPOSIT] = {EMU_FAULT_BY_PAYLOAD, CALL_ADDRESS | KEY(ELEMENT) | KEY(BIT),
                                KEY(RANK), CLASS(CORRUPT_PAYLOAD),
                                "one bit of an element changes after it was deposited"},
    [EMU_FAULT_FLIP_RESULT] = {EMU_FAULT_BY_PAYLOAD, CALL_ADDRESS | KEY(ELEMENT) | KEY(BIT),
                               KEY(RANK), WRONG_VALUES,
                               "one bit of an element changes in this rank's copy of the result"},
    [EMU_FAULT_FLIP_INPUT] = {EMU_FAULT_BY_PAYLOAD, CALL_ADDRESS | KEY(ELEMENT) | KEY(BIT),
                              KEY(RANK), WRONG_VALUES,
                              "one bit of an element changes before it is deposited; where the "
                              "result is one for all copies only the oracle can see it"},
    [EMU_FAULT_NAN] = {EMU_FAULT_BY_PAYLOAD, CALL_ADDRESS | KEY(ELEMENT), KEY(RANK),
                       CLASS(NONFINITE), "one element of the input becomes NaN"},
    [EMU_FAULT_SKIP_REDUCE] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0,
                               CLASS(MISSING_REDUCTION) | CLASS(TIED_UNSYNCED),
                               "all ranks leave out the reduction of a gradient"},
    [EMU_FAULT_DOUBLE_REDUCE] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0,
                                 CLASS(DOUBLE_REDUCTION), "all ranks reduce a gradient twice"},
    [EMU_FAULT_REDUCE_WORLD] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0,
                                CLASS(REDUCED_REPLICATED) | CLASS(SHARD_TILING),
                                "all ranks reduce a gradient over the world"},
    [EMU_FAULT_WRONG_DIVISOR] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP) | KEY(BY), 0,
                                 CLASS(WRONG_SCALE) | CLASS(TOKEN_WEIGHT),
                                 "gradients are divided by=world, dp or local_tokens"},
    [EMU_FAULT_MEAN_OF_MEANS] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP), 0, CLASS(TOKEN_WEIGHT),
                                 "each source takes the mean of its own tokens, and these are "
                                 "averaged"},
    [EMU_FAULT_DROP_MICROBATCH] = {EMU_FAULT_BY_ALGEBRA, KEY(RANK) | KEY(STEP) | KEY(MICRO), 0,
                                   CLASS(LOST_MICROBATCH) | CLASS(TOKEN_WEIGHT),
                                   "a microbatch's gradient is not accumulated where the rank's "
                                   "tokens are (default: anywhere)"},
    [EMU_FAULT_REPEAT_MICROBATCH] = {EMU_FAULT_BY_ALGEBRA, KEY(RANK) | KEY(STEP) | KEY(MICRO),
                                     KEY(RANK), CLASS(TOKEN_WEIGHT),
                                     "a microbatch's gradient is accumulated twice where the "
                                     "rank's tokens are"},
    [EMU_FAULT_REDUCE_PARAMETER] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0,
                                    CLASS(MISSING_REDUCTION) | CLASS(TIED_UNSYNCED),
                                    "all ranks reduce the parameter in place of its gradient"},
    [EMU_FAULT_REDUCE_PART] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS | KEY(OVER), 0,
                               CLASS(MISSING_REDUCTION),
                               "all ranks reduce a gradient over one axis of several (default: "
                               "dp without cp)"},
    [EMU_FAULT_SKIP_TIED] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP), 0, CLASS(TIED_UNSYNCED),
                             "the two ends of a tied table are not summed"},
    [EMU_FAULT_DOUBLE_TIED] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP), 0, CLASS(DOUBLE_REDUCTION),
                               "the two ends of a tied table are summed twice"},
    [EMU_FAULT_SKIP_SLICED] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0, CLASS(MISSING_REDUCTION),
                               "sequence parallelism: a gradient of slices of rows is not summed "
                               "over tp"},
    [EMU_FAULT_SLICE_DENOMINATOR] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP), 0,
                                     CLASS(TOKEN_WEIGHT) | CLASS(NONFINITE),
                                     "each cp slice divides by its own tokens, and slices are "
                                     "averaged"},
    [EMU_FAULT_SKIP_SCALE] = {EMU_FAULT_BY_ALGEBRA, KEY(RANK) | KEY(STEP), KEY(RANK),
                              CLASS(WRONG_SCALE),
                              "the rank's pipeline stage leaves scale_grad out"},
    [EMU_FAULT_SKIP_NORM_SUM] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP) | KEY(OVER), 0, CLASS(WRONG_NORM),
                                 "the squares of the norm are not summed over an axis (default: "
                                 "all)"},
    [EMU_FAULT_AVERAGE_NORM] = {EMU_FAULT_BY_ALGEBRA, KEY(STEP) | KEY(OVER), 0, CLASS(WRONG_NORM),
                                "the squares of the norm are averaged over an axis (default: all)"},
    [EMU_FAULT_COUNT_PADDING] = {EMU_FAULT_BY_ALGEBRA, REDUCTION_ADDRESS, 0, CLASS(WRONG_NORM),
                                 "the norm counts the padding behind an optimizer shard"},
    [EMU_FAULT_SEED_REPLICA] = {EMU_FAULT_BY_STATE, STATE_ADDRESS, KEY(RANK), CLASS(INIT_MISMATCH),
                                "the rank draws parameters from another seed"},
    [EMU_FAULT_SAME_SEED_TP] = {EMU_FAULT_BY_STATE, KEY(PARAM), 0, CLASS(INIT_MISMATCH),
                                "all tp ranks draw the elements of the first shard"},
    [EMU_FAULT_SKIP_BROADCAST] = {EMU_FAULT_BY_STATE, KEY(RANK), KEY(RANK), CLASS(INIT_MISMATCH),
                                  "the copies of the rank's parameters are not synchronised before "
                                  "the first step (train.initial: broadcast)"},
    [EMU_FAULT_WRONG_SHARD] = {EMU_FAULT_BY_STATE, STATE_ADDRESS, KEY(RANK), CLASS(SHARD_TILING),
                               "the rank loads the shard of the next tp rank"},
    [EMU_FAULT_REPLICATE_SHARD] = {EMU_FAULT_BY_STATE, STATE_ADDRESS, KEY(RANK),
                                   CLASS(SHARD_TILING) | CLASS(MEMORY_MISMATCH),
                                   "the rank holds a tensor whole where a shard was declared"},
    [EMU_FAULT_SAME_DATA] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP), KEY(RANK),
                             CLASS(DATA_OVERLAP) | CLASS(DATA_GAP),
                             "the rank's dp coordinate reads what another one reads"},
    [EMU_FAULT_OTHER_DATA_TP] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP), KEY(RANK),
                                 CLASS(DATA_DIVERGENCE),
                                 "the rank reads other examples than its tp peers"},
    [EMU_FAULT_TRANSPOSED_MESH] = {EMU_FAULT_BY_STATE, KEY(RANK), KEY(RANK),
                                   CLASS(SHARD_TILING) | CLASS(INIT_MISMATCH) |
                                       CLASS(MESH_MISMATCH),
                                   "the rank takes dp for tp and tp for dp"},
    [EMU_FAULT_SKIP_UPDATE] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP), KEY(RANK),
                               CLASS(REPLICA_DIVERGENCE) | CLASS(ORACLE_MISMATCH),
                               "the rank leaves out the optimizer's update"},
    [EMU_FAULT_WRONG_HALO] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP), 0,
                              CLASS(ORACLE_MISMATCH) | CLASS(TRAFFIC_MISMATCH),
                              "the rank's slice (default: all) takes its halo from the run before "
                              "the right one"},
    [EMU_FAULT_SWAP_MICROBATCHES] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP), KEY(RANK),
                                     CLASS(DATA_DIVERGENCE) | CLASS(COUNT_MISMATCH) |
                                         CLASS(TRUNCATION),
                                     "the rank's stage takes its first two microbatches for each "
                                     "other"},
    [EMU_FAULT_SHIFT_SHARD] = {EMU_FAULT_BY_STATE, STATE_ADDRESS, KEY(RANK), CLASS(SHARD_TILING),
                               "the rank's optimizer shard is that of the next member"},
    [EMU_FAULT_SKIP_GATHER] = {EMU_FAULT_BY_STATE, KEY(RANK) | KEY(STEP) | KEY(PARAM), 0,
                               OUT_OF_STEP | CLASS(REPLICA_DIVERGENCE) | CLASS(TRAFFIC_MISMATCH),
                               "the rank (default: all) leaves out the gather of an updated "
                               "parameter"},
};

static const char *const names[] = {
#define NAME(name, text) [name] = text,
    EMU_FAULT_LIST(NAME)};
static const char *const keys[] = {EMU_FAULT_KEY_LIST(NAME)};
#undef NAME

const struct emu_fault_row *emu_fault_row(enum emu_fault_kind kind)
{
    assert((unsigned)kind < EMU_FAULT_KIND_COUNT);
    return &rows[kind];
}

const char *emu_fault_name(enum emu_fault_kind kind)
{
    return (unsigned)kind < EMU_FAULT_KIND_COUNT ? names[kind] : "?";
}

const char *emu_fault_key_name(enum emu_fault_key key)
{
    return (unsigned)key < EMU_FAULT_KEY_COUNT ? keys[key] : "?";
}
