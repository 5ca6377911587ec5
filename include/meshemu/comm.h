/* How do the ranks of a group combine values?
 *
 * Every collective, send and receive is one struct emu_call. The k-th call of each member of a
 * group meets the k-th calls of the others, whether they were started with emu_start or not. When
 * all members have called, the signatures (kind, count, dtype, op, root, layout) are compared
 * before a byte moves; one decision, the same for all members, completes or breaks the call.
 *
 * Sums are folded in the order of group ranks on every member: the same bits everywhere, always.
 *
 * Errors of a call
 *   EMU_EINVAL      an argument is refused (root outside the group, NULL buffer with count > 0)
 *   EMU_ENOTMEMBER  the caller does not belong to the group
 *   EMU_EMISMATCH   the members' signatures differ; no data was written
 *   EMU_EPEER       a member failed or ended before it took part; later calls on the group
 *                   answer the same; other groups go on
 *   EMU_ECORRUPT    a checksum does not fit: bytes changed between a member and this one; the
 *                   call has ended, and what it wrote is not to be trusted
 *   EMU_EABORTED    the launcher ended the whole run
 * Memory order: when a call returns EMU_OK, all that the other members did before their call is
 * visible here (one-way for rooted calls and messages, as data flows).
 * Ownership: buffers belong to the caller and must stay valid until the call (or its wait) returns;
 * a label until the call has started, a file until the launch ends.
 * A rank's functions may be called from one thread of that rank at a time.
 */
#ifndef MESHEMU_COMM_H
#define MESHEMU_COMM_H

#include <meshemu/mesh.h>
#include <meshemu/status.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerator, name in scripts and reports, 1 if the kind has a root, 1 if it reduces. */
#define EMU_KIND_LIST(X)                                                                           \
    X(EMU_BARRIER, "barrier", 0, 0)                                                                \
    X(EMU_BROADCAST, "broadcast", 1, 0)                                                            \
    X(EMU_REDUCE, "reduce", 1, 1)                                                                  \
    X(EMU_ALL_REDUCE, "all_reduce", 0, 1)                                                          \
    X(EMU_REDUCE_SCATTER, "reduce_scatter", 0, 1)                                                  \
    X(EMU_ALL_GATHER, "all_gather", 0, 0)                                                          \
    X(EMU_ALL_TO_ALL, "all_to_all", 0, 0)                                                          \
    X(EMU_GATHER, "gather", 1, 0)                                                                  \
    X(EMU_SCATTER, "scatter", 1, 0)                                                                \
    X(EMU_SEND, "send", 0, 0)                                                                      \
    X(EMU_RECV, "recv", 0, 0)

enum emu_kind {
#define EMU_KIND_ENUMERATOR(name, text, rooted, reduces) name,
    EMU_KIND_LIST(EMU_KIND_ENUMERATOR)
#undef EMU_KIND_ENUMERATOR
        EMU_KIND_COUNT
};

/* Enumerator, name, bytes of one element. FIELD61: integers modulo 2^61-1, sum only (the ledger's).
 * BOUND32/BOUND64: values with error bounds, legal in groups of one member only (the oracle's). */
#define EMU_DTYPE_LIST(X)                                                                          \
    X(EMU_F64, "f64", 8)                                                                           \
    X(EMU_F32, "f32", 4)                                                                           \
    X(EMU_I64, "i64", 8)                                                                           \
    X(EMU_I32, "i32", 4)                                                                           \
    X(EMU_U8, "u8", 1)                                                                             \
    X(EMU_FIELD61, "field61", 8)                                                                   \
    X(EMU_BOUND32, "bound32", 16)                                                                  \
    X(EMU_BOUND64, "bound64", 16)

enum emu_dtype {
#define EMU_DTYPE_ENUMERATOR(name, text, bytes) name,
    EMU_DTYPE_LIST(EMU_DTYPE_ENUMERATOR)
#undef EMU_DTYPE_ENUMERATOR
        EMU_DTYPE_COUNT
};

#define EMU_OP_LIST(X)                                                                             \
    X(EMU_SUM, "sum")                                                                              \
    X(EMU_AVG, "avg")                                                                              \
    X(EMU_MIN, "min")                                                                              \
    X(EMU_MAX, "max")                                                                              \
    X(EMU_PROD, "prod")

enum emu_op {
#define EMU_OP_ENUMERATOR(name, text) name,
    EMU_OP_LIST(EMU_OP_ENUMERATOR)
#undef EMU_OP_ENUMERATOR
        EMU_OP_COUNT
};

/* What `count` means where members hold parts of a whole (all_gather, gather).
 * EQUAL: each member contributes count elements, the result has size*count.
 * CHUNKS: count is the whole; member i contributes its chunk of it by the chunk rule. */
enum emu_layout { EMU_LAYOUT_EQUAL, EMU_LAYOUT_CHUNKS };

/* The group of the caller alone. Legal wherever a group is; every collective on it is local. */
#define EMU_GROUP_SELF UINT32_MAX

/* What count, input and output mean, in elements.
 *
 * count
 * - barrier: not used
 * - broadcast, reduce, all_reduce: the vector
 * - reduce_scatter, all_to_all, scatter: the whole input (scatter: of the root; the others pass the
 *   same number), split by the chunk rule over the members
 * - all_gather, gather: see layout
 * - send: the message; recv: the room in `output` (a shorter message is legal)
 *
 * input: read at the root only in broadcast and scatter, on every member otherwise. In all_to_all
 * it holds one chunk for each member, and member j receives chunk j of everyone, packed by group
 * rank.
 *
 * output: written at the root only in reduce and gather, on all but the root in broadcast, on every
 * member otherwise.
 *
 * In place: `output` may equal `input`; otherwise the two must not overlap. reduce_scatter and
 * scatter then write the caller's own chunk to the start, all_gather and gather read the caller's
 * part from the start.
 *
 * count 0 with NULL buffers is legal. Arguments that a member does not use may hold anything.
 *
 * Arithmetic: sums and products of integers wrap (two's complement); avg is the sum divided once by
 * the size of the group, for integers the wrapped sum truncated towards zero; min and max give the
 * first NaN in group order, if there is one. Sums and products that meet several NaNs give one of
 * them, on all members the same; which one is left to the processor.
 */
struct emu_call {
    enum emu_kind kind;
    uint32_t group; /* id from emu_rank_group; send and recv: ignored */
    uint64_t count;
    enum emu_dtype dtype;
    enum emu_op op;
    uint32_t root; /* group rank */
    uint32_t peer; /* global rank: to (send), from (recv) */
    int32_t tag;
    enum emu_layout layout;
    const void *input;
    void *output;
    const char *label; /* shown in reports; borrowed, at most 31 bytes are kept; NULL: none */
    const char *file;  /* call-site; borrowed until the launch ends, as a string literal is: a path
                        * is read when it is seen first, and known by its address from then on */
    uint32_t line;
    /* Exact coefficients that travel with the data, modulo 2^61-1, in place; NULL: none. A kind
     * that reduces sums them over the members (avg: and divides by their number) wherever it writes
     * output; broadcast copies the root's; other kinds leave them alone. Their number must be the
     * same on all members. */
    uint64_t *ledger;
    uint32_t ledger_count;
};

struct emu_rank;    /* one rank's handle, valid inside the body of emu_launch */
struct emu_request; /* a started call; owned by the rank until waited for */

EMU_PUBLIC uint32_t emu_rank_id(const struct emu_rank *rank);
EMU_PUBLIC uint32_t emu_rank_world(const struct emu_rank *rank);
EMU_PUBLIC const struct emu_mesh *emu_rank_mesh(const struct emu_rank *rank);

/* Id of the caller's group: "world", an axis, an axis list ("dp,cp") or a name given at launch.
 * EMU_ENOTFOUND where the launch did not declare it, EMU_ENOTMEMBER where the caller is outside. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_rank_group(const struct emu_rank *rank,
                                                         const char *over, uint32_t *group);

/* Members of a group, and the caller's place in it (-1: none). EMU_GROUP_SELF is legal. */
EMU_PUBLIC uint32_t emu_rank_group_size(const struct emu_rank *rank, uint32_t group);
EMU_PUBLIC int64_t emu_rank_group_index(const struct emu_rank *rank, uint32_t group);

/* `bytes` of the rank's arena, 64-byte aligned, zeroed, readable by every process of the mesh until
 * the launch ends; never freed alone. NULL when the arena of the launch options is used up. */
EMU_PUBLIC void *emu_rank_alloc(struct emu_rank *rank, uint64_t bytes);

/* Make the call and wait for it. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_run_call(struct emu_rank *rank,
                                                       const struct emu_call *call);

/* Start a call; *request must be waited for exactly once, in any order. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status
emu_start(struct emu_rank *rank, const struct emu_call *call, struct emu_request **request);
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_wait(struct emu_rank *rank,
                                                   struct emu_request *request);

/* Elements the last received message really had (recv), for a request before its wait or, with
 * NULL, of the last emu_run_call. */
EMU_PUBLIC uint64_t emu_received(const struct emu_rank *rank);

/* After EMU_EPEER: has this rank failed or ended? */
EMU_PUBLIC bool emu_rank_failed(const struct emu_rank *rank, uint32_t other);

/* Shorthands that note the call-site. Each returns enum emu_status. */
#define emu_barrier(rank, group_id)                                                                \
    emu_run_at(rank, EMU_BARRIER, group_id, NULL, NULL, 0, EMU_F64, EMU_SUM, 0, __FILE__, __LINE__)
#define emu_broadcast(rank, group_id, buffer, count, dtype, root)                                  \
    emu_run_at(rank, EMU_BROADCAST, group_id, buffer, buffer, count, dtype, EMU_SUM, root,         \
               __FILE__, __LINE__)
#define emu_reduce(rank, group_id, input, output, count, dtype, op, root)                          \
    emu_run_at(rank, EMU_REDUCE, group_id, input, output, count, dtype, op, root, __FILE__,        \
               __LINE__)
#define emu_all_reduce(rank, group_id, input, output, count, dtype, op)                            \
    emu_run_at(rank, EMU_ALL_REDUCE, group_id, input, output, count, dtype, op, 0, __FILE__,       \
               __LINE__)
#define emu_reduce_scatter(rank, group_id, input, output, count, dtype, op)                        \
    emu_run_at(rank, EMU_REDUCE_SCATTER, group_id, input, output, count, dtype, op, 0, __FILE__,   \
               __LINE__)
#define emu_all_gather(rank, group_id, input, output, count, dtype)                                \
    emu_run_at(rank, EMU_ALL_GATHER, group_id, input, output, count, dtype, EMU_SUM, 0, __FILE__,  \
               __LINE__)
#define emu_all_to_all(rank, group_id, input, output, count, dtype)                                \
    emu_run_at(rank, EMU_ALL_TO_ALL, group_id, input, output, count, dtype, EMU_SUM, 0, __FILE__,  \
               __LINE__)
#define emu_gather(rank, group_id, input, output, count, dtype, root)                              \
    emu_run_at(rank, EMU_GATHER, group_id, input, output, count, dtype, EMU_SUM, root, __FILE__,   \
               __LINE__)
#define emu_scatter(rank, group_id, input, output, count, dtype, root)                             \
    emu_run_at(rank, EMU_SCATTER, group_id, input, output, count, dtype, EMU_SUM, root, __FILE__,  \
               __LINE__)
#define emu_send(rank, to, input, count, dtype, tag)                                               \
    emu_message_at(rank, EMU_SEND, to, input, NULL, count, dtype, tag, __FILE__, __LINE__)
#define emu_recv(rank, from, output, count, dtype, tag)                                            \
    emu_message_at(rank, EMU_RECV, from, NULL, output, count, dtype, tag, __FILE__, __LINE__)

EMU_PUBLIC EMU_MUST_CHECK enum emu_status
emu_run_at(struct emu_rank *rank, enum emu_kind kind, uint32_t group, const void *input,
           void *output, uint64_t count, enum emu_dtype dtype, enum emu_op op, uint32_t root,
           const char *file, uint32_t line);
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_message_at(struct emu_rank *rank, enum emu_kind kind,
                                                         uint32_t peer, const void *input,
                                                         void *output, uint64_t count,
                                                         enum emu_dtype dtype, int32_t tag,
                                                         const char *file, uint32_t line);

/* Send to one rank and receive from another at once; never deadlocks with its like. */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status
emu_sendrecv(struct emu_rank *rank, uint32_t to, const void *input, uint64_t input_count,
             uint32_t from, void *output, uint64_t output_count, enum emu_dtype dtype, int32_t tag);

EMU_PUBLIC const char *emu_kind_name(enum emu_kind kind);
EMU_PUBLIC const char *emu_dtype_name(enum emu_dtype dtype);
EMU_PUBLIC const char *emu_op_name(enum emu_op op);
EMU_PUBLIC uint64_t emu_dtype_bytes(enum emu_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
