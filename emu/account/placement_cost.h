/* Which order of the axes is best on given nodes, and when would another one be?
 *
 * A placement is one order of all axes above size 1, outermost first; nodes are runs of consecutive
 * ranks. Every order is priced: for each axis (or pair, where gradients are combined over dp and cp
 * together) whether it crosses nodes, what a rank sends and how long that takes (flow.h). A step
 * takes as long as its slowest class of ranks. Nothing is said about where an axis "belongs": the
 * rate between nodes and the number of microbatches at which the best order changes are computed.
 */
#ifndef EMU_ACCOUNT_PLACEMENT_COST_H
#define EMU_ACCOUNT_PLACEMENT_COST_H

#include "account/flow.h"

/* 7! = 5,040 orders. */
#define EMU_PLACED_AXES_MOST 7
#define EMU_COST_ROWS_MOST (EMU_MESH_MAX_AXES + 1)

struct emu_placement_cost {
    uint8_t order[EMU_PLACED_AXES_MOST]; /* axes of the mesh, outermost first */
    double rest, inter_bytes;            /* of the slowest class: seconds = rest + bytes / rate */
    double fixed;                        /* seconds of it that do not grow with microbatches */
    double seconds;
    size_t slowest; /* the class */
};

struct emu_cost_row {
    uint32_t axes; /* bits */
    bool crosses;
    double bytes, seconds;
};

struct emu_placements {
    const struct emu_books *books; /* borrowed */
    struct emu_links links;
    uint32_t axis_count;              /* of an order */
    struct emu_placement_cost *items; /* best first; owned */
    size_t count;
};

/* EMU_EUNSUPPORTED with a line in *error: too many axes, an explicit arrangement of ranks, nodes
 * that cut an axis unevenly (tree, two-level), traffic that is not in the books. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_placements_make(const struct emu_books *books,
                                                   const struct emu_links *links,
                                                   struct emu_text *error,
                                                   struct emu_placements *placements);
void emu_placements_finish(struct emu_placements *placements);

/* The rows of one placement: all axes of the mesh above size 1, and dp,cp together where gradients
 * travel over both. Returns their number. */
uint32_t emu_placement_rows(const struct emu_placements *placements,
                            const struct emu_placement_cost *cost,
                            struct emu_cost_row rows[EMU_COST_ROWS_MOST]);

/* "dp=2,tp=8"; "dp,cp" for a set of axes. */
void emu_placement_text(const struct emu_placements *placements,
                        const struct emu_placement_cost *cost, struct emu_text *out);
void emu_axis_set_text(const struct emu_mesh *mesh, uint32_t axes, struct emu_text *out);

/* Where the best order changes: the nearest value below and above the present one at which another
 * placement becomes as fast. NULL: none. */
struct emu_turning_point {
    double at;
    const struct emu_placement_cost *other;
};
struct emu_turning_points {
    struct emu_turning_point below, above;
};

/* By the rate between nodes (bytes per second), and by the number of microbatches (from 1). */
struct emu_turning_points emu_placements_by_rate(const struct emu_placements *placements);
struct emu_turning_points emu_placements_by_microbatches(const struct emu_placements *placements);

#endif
