/* What does a rank send in a step, to whom, in how many calls, and how long does that take?
 *
 * A flow is all traffic of one kind over one set of axes. Its bytes are those of the books
 * (sent_bytes.c); `passes` says in how many trips of the payload around the group they are sent: an
 * all-reduce makes two, an all-gather or a reduce-scatter one. Gradients travel in one call.
 *
 * The model of the links: a rank sends at the rate of the slowest link its group needs, everything
 * one after the other, nothing overlapped, no two ranks in each other's way. With N members, q of
 * them on each of k nodes, P bytes of payload:
 *
 *   ring        a pass is N-1 steps and P(N-1)/N bytes, all at the inter rate where the group
 *               crosses nodes
 *   two-level   a pass is q-1 steps and P(q-1)/q bytes inside the node, then k-1 steps and
 *               (P/q)(k-1)/k bytes between nodes
 *   tree        all-reduce: log2(q) rounds of P inside and log2(k) between, up and down
 *               (binomial; Thakur, Rabenseifner, Gropp 2005); a gather doubles what it has in each
 *               round: P(q-1)/N bytes inside, P(k-1)/k between
 *   messages    (pp) m for each neighbour, at the inter rate where the axis crosses nodes
 *
 * Times are rest + inter_bytes / rate: linear in the inverse rate between nodes, so the rate at
 * which two placements are equal is known exactly.
 */
#ifndef EMU_ACCOUNT_FLOW_H
#define EMU_ACCOUNT_FLOW_H

#include "account/books.h"

enum emu_link_algorithm { EMU_LINK_RING, EMU_LINK_TREE, EMU_LINK_TWO_LEVEL };

struct emu_links {
    uint32_t node;                   /* ranks of a node */
    double intra, inter;             /* bytes per second */
    double intra_delay, inter_delay; /* seconds for each step */
    enum emu_link_algorithm algorithm;
};

enum emu_flow_kind { EMU_FLOW_REDUCE, EMU_FLOW_GATHER, EMU_FLOW_MESSAGES };

struct emu_flow {
    uint32_t axes;    /* bit i: mesh axis i */
    uint32_t members; /* N */
    enum emu_flow_kind kind;
    double bytes;  /* sent by the rank, ring */
    double passes; /* or messages */
    bool once;     /* a step; others come with every microbatch */
};

#define EMU_FLOWS_MOST 8

/* The flows of a rank of this class; returns their number. */
uint32_t emu_flows_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                      struct emu_flow flows[EMU_FLOWS_MOST]);

/* seconds = rest + inter_bytes / links->inter */
struct emu_flow_time {
    double rest, inter_bytes;
};

/* inside: members on one node (q; for a ring only whether it crosses matters). */
struct emu_flow_time emu_flow_time_of(const struct emu_flow *flow, const struct emu_links *links,
                                      uint32_t inside, bool crosses);

/* Bytes that the busiest member sends with this algorithm. */
double emu_flow_bytes(const struct emu_flow *flow, const struct emu_links *links);

#endif
