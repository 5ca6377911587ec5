/* What did the checks find, and what does each finding say?
 *
 * Findings of one cause are one finding: what follows from it is listed as consequence. A finding
 * of severity `note` never changes the verdict. All strings are UTF-8 and owned by the finding.
 */
#ifndef MESHEMU_FINDING_H
#define MESHEMU_FINDING_H

#include <meshemu/comm.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every class there is, by the name it has in reports. */
#define EMU_CLASS_LIST(X)                                                                          \
    X(ORDER_MISMATCH)                                                                              \
    X(OP_MISMATCH)                                                                                 \
    X(DTYPE_MISMATCH)                                                                              \
    X(COUNT_MISMATCH)                                                                              \
    X(ROOT_MISMATCH)                                                                               \
    X(GROUP_MISMATCH)                                                                              \
    X(NOT_A_MEMBER)                                                                                \
    X(INVALID_ARGUMENT)                                                                            \
    X(MISSING_PARTICIPANT)                                                                         \
    X(DEADLOCK)                                                                                    \
    X(TAG_MISMATCH)                                                                                \
    X(TRUNCATION)                                                                                  \
    X(LOST_MESSAGE)                                                                                \
    X(UNSAFE_BUFFERING)                                                                            \
    X(MESH_MISMATCH)                                                                               \
    X(CRASH)                                                                                       \
    X(EARLY_EXIT)                                                                                  \
    X(STOPPED)                                                                                     \
    X(STALL)                                                                                       \
    X(STRAGGLER)                                                                                   \
    X(CORRUPT_PAYLOAD)                                                                             \
    X(REPLICA_DIVERGENCE)                                                                          \
    X(INIT_MISMATCH)                                                                               \
    X(SHARD_TILING)                                                                                \
    X(DATA_OVERLAP)                                                                                \
    X(DATA_GAP)                                                                                    \
    X(DATA_DIVERGENCE)                                                                             \
    X(NONFINITE)                                                                                   \
    X(MISSING_REDUCTION)                                                                           \
    X(DOUBLE_REDUCTION)                                                                            \
    X(REDUCED_REPLICATED)                                                                          \
    X(WRONG_SCALE)                                                                                 \
    X(TOKEN_WEIGHT)                                                                                \
    X(LOST_MICROBATCH)                                                                             \
    X(TIED_UNSYNCED)                                                                               \
    X(WRONG_NORM)                                                                                  \
    X(ORACLE_MISMATCH)                                                                             \
    X(MEMORY_MISMATCH)                                                                             \
    X(TRAFFIC_MISMATCH)                                                                            \
    X(INTERNAL)

enum emu_class {
#define EMU_CLASS_ENUMERATOR(name) EMU_CLASS_##name,
    EMU_CLASS_LIST(EMU_CLASS_ENUMERATOR)
#undef EMU_CLASS_ENUMERATOR
        EMU_CLASS_COUNT
};

/* A call as it was recorded. */
struct emu_call_view {
    enum emu_kind kind;
    uint32_t group;
    uint64_t index; /* of this call in its group, from 0; for messages: of this pair */
    uint64_t count;
    enum emu_dtype dtype;
    enum emu_op op;
    uint32_t root;
    uint32_t peer;
    int32_t tag;
    char group_name[EMU_NAME_MAX];
    char label[EMU_NAME_MAX];
    char file[64];
    uint32_t line;
};

/* One member of the group in question and what it was doing. */
struct emu_member_view {
    uint32_t rank;
    char state[96]; /* "in this call", "in user code", "exited 3", "killed by SIGKILL", ... */
    bool has_call;
    struct emu_call_view call;
};

/* rank waits for each of targets. */
struct emu_wait_view {
    uint32_t rank;
    uint32_t *targets;
    size_t target_count;
    uint32_t group;
    uint64_t index;
    enum emu_kind kind;
};

/* With which factor a source's summed token gradient is inside a value, as a fraction. */
struct emu_coefficient_view {
    char *source;    /* "dp=0,mb=1" */
    char *value;     /* "1/4"; "?" where it is no small fraction */
    uint64_t tokens; /* valid tokens of the source, where they matter; else 0 */
};

struct emu_finding {
    enum emu_class class_id;
    bool note; /* severity: note, else fault */
    bool undecided;
    char *message;
    char **axes;
    size_t axis_count;
    uint32_t *group; /* members as global ranks, in group order */
    size_t group_size;
    char *group_name; /* "tp", "dp,cp", "world"; NULL: none */
    bool has_index;
    uint64_t index;
    uint32_t *culprits;
    size_t culprit_count;
    struct emu_member_view *members;
    size_t member_count;
    struct emu_wait_view *waits;
    size_t wait_count;
    char *parameter; /* NULL: none; likewise all below */
    char **parameters;
    size_t parameter_count;
    char **consequences;
    size_t consequence_count;
    struct emu_coefficient_view *coefficients;
    size_t coefficient_count;
    int64_t coefficient_rank; /* that holds them; -1: all alike */
    char *expected;
    char *got;
    char *ratio;
    char *explanation; /* lines: first what the ratio is or why, then causes and factors */
    int64_t after_ns;  /* from the enabling event to the finding; -1: does not apply */
    char *replay;
};

/* In the order found. Zero-initialise; finish frees all. */
struct emu_findings {
    struct emu_finding *items;
    size_t count;
    size_t room;
};

EMU_PUBLIC const char *emu_class_name(enum emu_class class_id);
EMU_PUBLIC void emu_findings_finish(struct emu_findings *findings);

/* Number of findings that are faults: the verdict is pass where it is 0. */
EMU_PUBLIC size_t emu_findings_faults(const struct emu_findings *findings);

#ifdef __cplusplus
}
#endif
#endif
