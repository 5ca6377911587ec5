/* What does each rank of a communication script do? A text becomes an immutable program.
 *
 * Read once before any process exists, inherited by every rank through the fork. What is no word of
 * the language (an op, a field, a dtype, a group, the name of a wait) is refused with its place,
 * all mistakes in one go. What is a wrong call (a negative count, a root outside its group, a peer
 * outside the world, a group that the rank is no member of) is kept as written: scripts exist to
 * make such calls.
 *
 * The walk lists what a rank executes, repeats unrolled, without memory for it: the interpreter,
 * the report and the replay all go through it and so agree on the number of every call.
 */
#ifndef EMU_CONFIG_SCRIPT_H
#define EMU_CONFIG_SCRIPT_H

#include "base/text.h"
#include "mesh/roster.h"

#include <meshemu/comm.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_SCRIPT_MAX_WORLD 65536
#define EMU_SCRIPT_MAX_NAMES 1000                    /* async names of one entry */
#define EMU_SCRIPT_MAX_RESULTS (UINT64_C(1) << 20)   /* of one rank */
#define EMU_SCRIPT_MAX_COUNT (INT64_C(1) << 40)      /* elements of one call */
#define EMU_SCRIPT_MAX_TIMES UINT64_C(1000000000000) /* of one repeat */
#define EMU_SCRIPT_NO_HANDLE UINT32_MAX

enum emu_script_kind {
    EMU_SCRIPT_COLLECTIVE,
    EMU_SCRIPT_SEND,
    EMU_SCRIPT_RECV,
    EMU_SCRIPT_SENDRECV,
    EMU_SCRIPT_WAIT,
    EMU_SCRIPT_COMPUTE,
    EMU_SCRIPT_SLEEP,
    EMU_SCRIPT_SPIN,
    EMU_SCRIPT_REPEAT,
    EMU_SCRIPT_EXIT,
    EMU_SCRIPT_KILL,
    EMU_SCRIPT_STOP,
    EMU_SCRIPT_DATA,
    EMU_SCRIPT_KIND_COUNT
};

struct emu_script_op {
    enum emu_script_kind kind;
    const char *name; /* as written: "all_reduce" */
    uint32_t line;
    enum emu_kind call; /* COLLECTIVE */
    uint32_t family;    /* COLLECTIVE: of the roster */
    int64_t count, root, to, from, tag;
    enum emu_dtype dtype;
    enum emu_op op;
    uint32_t handle;       /* of its async name in the entry, or EMU_SCRIPT_NO_HANDLE */
    const uint32_t *waits; /* WAIT: handles in order */
    size_t wait_count;
    uint64_t duration_ns; /* COMPUTE, SLEEP; STOP: continued after, 0: never */
    int64_t code;         /* EXIT: 0..255; KILL: signal */
    double value;         /* DATA */
    uint64_t times;       /* REPEAT */
    const struct emu_script_op *body;
    size_t body_count;
    uint64_t steps;   /* ops that it executes, itself included, repeats not; at most UINT64_MAX */
    uint64_t results; /* calls among them that may yield data; likewise */
};

/* One element of `program`. */
struct emu_script_entry {
    const struct emu_script_op *ops;
    size_t count;
    const char *const *names; /* async names by handle */
    size_t name_count;
    uint64_t steps, results; /* sums over ops */
    uint32_t line;
};

struct emu_script {
    const char *name; /* of the file */
    struct emu_mesh mesh;
    struct emu_roster roster; /* world, axes, what `over` names, and `groups` */
    bool buffered;
    uint64_t stall_after_ns; /* 0: no budget */
    uint64_t stop_grace_ns;
    const struct emu_script_entry *entries;
    size_t entry_count;
    const uint32_t *entry_of; /* per rank, UINT32_MAX where no entry names it */
    void *keep;               /* owner of all */
};

struct emu_script_params {
    const char *name; /* shown in messages */
    const char *text;
    size_t size;
};

/* EMU_EPARSE: the diagnostics hold whole lines to print. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_script_read(const struct emu_script_params *params,
                                               struct emu_text *diagnostics,
                                               struct emu_script **script);
void emu_script_destroy(struct emu_script *script);

/* NULL where no entry names the rank. */
const struct emu_script_entry *emu_script_entry_of(const struct emu_script *script, uint32_t rank);

/* May a completed call of this op leave data with its caller? A barrier and a send do not. */
bool emu_script_op_yields(const struct emu_script_op *op);

/* A collective, send, receive or both. */
bool emu_script_op_is_call(const struct emu_script_op *op);

/* Group id that the op means on this rank; for a group that the rank is no member of, the group
 * itself. */
uint32_t emu_script_group(const struct emu_script *script, const struct emu_script_op *op,
                          uint32_t rank);

#define EMU_SCRIPT_MAX_DEPTH 32 /* of the document, so repeats nest less deeply */

struct emu_script_frame {
    const struct emu_script_op *ops;
    size_t count, next;
    uint64_t left; /* rounds after this one */
};

struct emu_script_walk {
    size_t depth;
    struct emu_script_frame frames[EMU_SCRIPT_MAX_DEPTH];
};

/* entry: NULL walks nothing. */
void emu_script_walk_init(struct emu_script_walk *walk, const struct emu_script_entry *entry);

/* The next op that is no repeat; NULL at the end. */
const struct emu_script_op *emu_script_walk_next(struct emu_script_walk *walk);

#endif
