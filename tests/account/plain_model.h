/* The model again, the slow and plain way: every tensor, on every rank, element by element.
 *
 * Written apart from emu/account, from the rules alone: no classes, no parts that repeat, no
 * formulas for copies. For small models and meshes.
 */
#ifndef EMU_TESTS_ACCOUNT_PLAIN_MODEL_H
#define EMU_TESTS_ACCOUNT_PLAIN_MODEL_H

#include "config/config.h"

#include <stdint.h>

#define PLAIN_TENSORS 512
#define PLAIN_WORLD 128

struct plain_tensor {
    uint64_t elements, padded;
    uint64_t pieces;      /* different slices along tp */
    uint64_t chunks;      /* > 0: entries of a dimension cut by the chunk rule */
    uint64_t unit;        /* elements of each entry */
    uint32_t stage, also; /* the stages that hold it */
    bool heads;           /* copies along tp are those of k and v */
};

struct plain_model {
    uint32_t dp, tp, cp, pp, world;
    uint32_t shard; /* N */
    int level;      /* of ZeRO */
    bool over_dp, over_cp;
    uint32_t count;
    struct plain_tensor tensors[PLAIN_TENSORS];
};

struct plain_place {
    uint32_t dp, tp, cp, pp;
};

/* Elements [first, end) of the padded tensor that a rank holds of it, and what it allocates. */
struct plain_piece {
    uint64_t first, end, allocated;
};

void plain_model_make(const struct emu_config *config, struct plain_model *model);
struct plain_place plain_place_of(const struct emu_config *config, uint32_t rank);

/* sharded: over the shard group; else the whole local part. allocated 0: the rank has none. */
struct plain_piece plain_piece_of(const struct plain_model *model,
                                  const struct plain_tensor *tensor, struct plain_place place,
                                  bool sharded);

/* "mesh: ...": a random config, small enough for everything here. seed 0, 1, 2... */
void plain_config_draw(uint64_t seed, char *out, size_t room);

#endif
