/* What follows from a config, before any process exists?
 *
 * One pure function derives everything: which groups are needed, each tensor's shard on each rank,
 * over which axes each gradient is partial, who reads which sequences, and how many bytes each
 * category takes. `run` executes it, the checks measure against it. Per-rank facts are computed on
 * demand in O(axes); nothing here depends on the number of ranks.
 */
#ifndef EMU_PLAN_PLAN_H
#define EMU_PLAN_PLAN_H

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "mesh/roster.h"
#include "plan/placement.h"
#include "plan/recipe.h"

#include <meshemu/comm.h>
#include <meshemu/mesh.h>

#define EMU_VOCAB 256 /* byte-level */
#define EMU_TENSOR_NAME_MAX 48
#define EMU_GRADIENT_AXES_MAX 4

enum emu_init_kind { EMU_INIT_UNIFORM, EMU_INIT_ONES, EMU_INIT_ZEROS };

/* One logical parameter: rows x columns, row-major (a vector has rows = 1). Its gradient and
 * optimizer state have the same shape and placement. */
struct emu_tensor_plan {
    char name[EMU_TENSOR_NAME_MAX]; /* "layers.0.up.weight" */
    uint64_t rows, columns;         /* unpadded, logical */
    enum emu_init_kind init;
    double init_scale; /* uniform in [-scale, scale); exact arithmetic: ternary, scale ignored */
    struct emu_placement over_tp;
    uint32_t stage; /* pipeline stage that holds it */
    bool tied;      /* the last stage holds a copy too: one tensor, two uses */
    bool sliced;    /* sequence parallelism: each tp rank's gradient is of its own rows alone */
};

/* Who owns tokens: one source of gradient for each (dp, cp, microbatch). */
struct emu_source_shape {
    uint32_t dp, cp, microbatches;
};

struct emu_plan {
    const struct emu_config *config; /* borrowed */
    struct emu_roster roster;        /* world, every axis, and the groups of the recipe */
    struct emu_mesh mesh;            /* of the oracle alone: dp=1 */
    uint32_t dp, tp, cp, pp;         /* sizes, 1 where absent */
    uint32_t microbatches;           /* that a rank runs in a step */
    struct emu_source_shape
        shape;                /* of the sources: those of the mesh, also in the oracle's plan */
    uint64_t batch;           /* sequences per step over the whole mesh (a token list is one) */
    uint32_t split_most;      /* parts in which a mesh may add up the norm: tp * pp of the config */
    uint32_t tp_family;       /* in the roster; UINT32_MAX: no such axis */
    uint32_t gradient_family; /* over the axes whose ranks see other tokens; UINT32_MAX: none */
    uint32_t loss_family;     /* over these and pp: the last stage alone has a loss */
    uint32_t norm_family;     /* over tp and pp: who hold parts of one model */
    enum emu_optimizer_shard shard; /* what the ranks of the shard group divide among them */
    struct emu_axes shard_axes;     /* of the shard group, in the order of optimizer.over */
    uint32_t shard_family;          /* UINT32_MAX: nothing is divided */
    uint32_t shard_parts;           /* members of the shard group, 1 where nothing is divided */
    uint32_t
        copy_family[2];   /* whole on tp, or sharded by it: see plan/initial.h; UINT32_MAX: none */
    uint32_t norm_parts;  /* members the shard group has or would have: the norm adds by them */
    enum emu_dtype dtype; /* of values */
    bool keeps_ledger;    /* coefficients travel with the gradients */
    struct emu_recipe_plan recipe;
    struct emu_tensor_plan *tensors; /* in model order, owned */
    uint32_t tensor_count;
    uint32_t moments; /* arrays of optimizer state per tensor: 0 sgd, 1 momentum, 2 adamw */
};

/* EMU_EPARSE with the reasons appended to diagnostics (what cannot be run on this mesh),
 * EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_plan_create(const struct emu_config *config,
                                               struct emu_text *diagnostics,
                                               struct emu_plan **plan);
void emu_plan_destroy(struct emu_plan *plan);

/* The same model, data and optimizer with the derived recipe (and the given clip) on a mesh of one
 * rank, each source in a microbatch of its own: what the oracle runs. With `bounded` the dtype is
 * the bounded twin (BOUND32, BOUND64) of the plan's. Borrows plan->config. */
EMU_MUST_CHECK enum emu_status emu_plan_create_oracle(const struct emu_plan *plan, bool bounded,
                                                      struct emu_plan **oracle);

/* Part of the tensor that the rank at this tp coordinate holds: rows x columns block. */
struct emu_block {
    uint64_t first_row, rows, first_column, columns;
};
struct emu_block emu_tensor_block(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index);

/* Layers of a pipeline stage: balanced, the first stages take the remainder, or model.stages. */
struct emu_slice emu_plan_layers(const struct emu_plan *plan, uint32_t stage);

/* The stage that holds a layer. */
uint32_t emu_plan_stage_of(const struct emu_plan *plan, uint64_t layer);

/* Does this stage hold the tensor? Do two stages hold it? */
bool emu_tensor_held(const struct emu_plan *plan, uint32_t tensor, uint32_t stage);
bool emu_tensor_tied(const struct emu_plan *plan, uint32_t tensor);

/* Is its gradient pending over tp, each rank having that of its own rows? */
bool emu_tensor_sliced(const struct emu_plan *plan, uint32_t tensor);

/* Uses of a tensor whose gradients are added up, each to be inside once: the two ends of a tied
 * table, the tp ranks of a sliced tensor, else 1. */
uint32_t emu_tensor_uses(const struct emu_plan *plan, uint32_t tensor);

/* Coefficients that a tensor's ledger keeps: one a source, for each of its uses. Use u of source s
 * is lane u * sources + s; of a tied table use 0 is the first stage's. */
uint32_t emu_tensor_lanes(const struct emu_plan *plan, uint32_t tensor);

/* The axes and the family (UINT32_MAX: alone) over which a reduction acts on this tensor. */
const struct emu_axes *emu_reduction_axes(const struct emu_plan *plan,
                                          const struct emu_reduction_plan *reduction,
                                          uint32_t tensor, uint32_t *family);

/* Elements that the rank allocates for its block: the vocabulary is padded to a multiple of tp, so
 * the last rows of a table may be padding behind the block. */
uint64_t emu_tensor_room(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index);

/* Optimizer sharding: of a block of n elements, member `index` of the shard group owns this chunk;
 * each allocates as much as the first. What is divided: zero1 moments, zero2 gradients too, zero3
 * weights too. */
struct emu_slice emu_plan_chunk(const struct emu_plan *plan, uint64_t n, uint32_t index);
bool emu_plan_shards_moments(const struct emu_plan *plan);
bool emu_plan_shards_gradients(const struct emu_plan *plan);
bool emu_plan_shards_weights(const struct emu_plan *plan);

/* Place of a rank in its shard group. */
uint32_t emu_plan_shard_index(const struct emu_plan *plan, uint32_t rank);

/* true: the table rows of this tensor are vocabulary entries. */
bool emu_tensor_is_vocabulary(const struct emu_tensor_plan *tensor);

/* The value that (seed, tensor, element) draws for the logical element (row-major index), in the
 * arithmetic of the run: every mesh starts from the same logical model. */
double emu_plan_draw(const struct emu_plan *plan, uint32_t tensor, uint64_t element);

/* Index of a tensor by name, or -1. */
int64_t emu_plan_tensor(const struct emu_plan *plan, const char *name);

/* Number of sources, and the one of (dp, cp, microbatch): microbatch fastest. */
uint32_t emu_plan_sources(const struct emu_plan *plan);
uint32_t emu_plan_source(const struct emu_plan *plan, uint32_t dp, uint32_t cp, uint32_t micro);

/* "dp=0,cp=1,mb=2"; coordinates whose size is 1 are left out ("dp=0" where all are). */
void emu_source_name(const struct emu_plan *plan, uint32_t source, struct emu_text *out);

/* Likewise for a lane of a tensor's ledger; uses after the first end in "@use1", ... */
void emu_lane_name(const struct emu_plan *plan, uint32_t lane, struct emu_text *out);

/* Sequences of a step: the global batch is `batch` sequences in file order, wrapping; the first
 * sequence of step s (from 0) is s*batch. A source takes this slice of the batch: chunk rule over
 * dp, then over microbatches. */
struct emu_slice emu_plan_sequences(const struct emu_plan *plan, uint32_t source);

/* Most rows (tokens with padding) of any source. */
uint64_t emu_plan_rows_most(const struct emu_plan *plan);

/* true: gradients of single sources need a buffer of their own (several of them, or clipping). */
bool emu_plan_keeps_fresh(const struct emu_plan *plan);

/* true: a sharded tensor, of whose elements each tp rank holds its own. */
bool emu_tensor_is_shard(const struct emu_plan *plan, uint32_t tensor);

#endif
