/* One case: a mesh, the data of a step, and a recipe that may be wrong.
 *
 * Built at random (random_scenario.c), right by construction (right_scenario.c), or from a right
 * one by one change (mutation.c). Written as a config for the product; read as a struct by the
 * reference. Values of tokens are in quarters, so that sums are exact in binary.
 */
#ifndef TESTS_PROPERTY_SCENARIO_H
#define TESTS_PROPERTY_SCENARIO_H

#include "base/text.h"
#include "draw.h"
#include "formula.h"

#include <stdbool.h>
#include <stdint.h>

#define AXES_MOST 3
#define RANKS_MOST 16
#define MICRO_MOST 3
#define SOURCES_MOST (RANKS_MOST * MICRO_MOST)
#define SOURCE_TOKENS_MOST 4
#define FEATURES_MOST 3
#define REDUCTIONS_MOST 6
#define TEXT_MOST 160

/* The order is that of the first names of a formula. */
enum axis_name { AXIS_DP, AXIS_CP, AXIS_TP, AXIS_PP, AXIS_COPY, AXIS_NAMES };

enum when { WHEN_STEP, WHEN_MICROBATCH, WHEN_FIRST, WHEN_LAST };
enum accumulation { ACCUMULATE_SUM, ACCUMULATE_MEAN, ACCUMULATE_LAST };

struct reduction {
    bool world;    /* over: world */
    uint32_t over; /* else a set of axes, as bits */
    bool reversed; /* written in the other order */
    bool avg;
    enum when when;
    const char *params; /* a glob, or "all" */
    bool scaled;
    struct formula scale;
};

struct recipe {
    bool given;
    bool mean; /* loss: mean */
    bool loss_scaled;
    struct formula scale_loss;
    enum accumulation accumulate;
    bool reduce_given;
    uint32_t reductions;
    struct reduction reduce[REDUCTIONS_MOST];
    bool grad_scaled;
    struct formula scale_grad;
    const char *clip; /* max_norm; NULL: none */
};

struct source {
    uint32_t count; /* with masked ones */
    bool masked[SOURCE_TOKENS_MOST];
    int quarters[SOURCE_TOKENS_MOST][FEATURES_MOST];
    uint32_t valid; /* tokens that count */
};

struct scenario {
    uint32_t axes;
    enum axis_name axis[AXES_MOST]; /* outermost first */
    uint32_t size[AXIS_NAMES];      /* 1 where the mesh has none */
    uint32_t world;
    bool arranged;             /* explicit ranks */
    uint32_t rank[RANKS_MOST]; /* at each place, row-major */
    uint32_t microbatches, features;
    struct source source[SOURCES_MOST]; /* (dp, cp, microbatch), microbatch fastest */
    bool language;                      /* mlp_lm on a text instead of linear on tokens */
    char text[TEXT_MOST];
    uint32_t sequence, batch;
    const char *model; /* more keys of the language model */
    struct recipe recipe;
    const char *arithmetic, *optimizer;
    uint32_t steps;
};

uint32_t scenario_sources(const struct scenario *scenario);
uint32_t scenario_tokens(const struct scenario *scenario); /* valid, of the step */
bool scenario_has(const struct scenario *scenario, enum axis_name axis);

/* Coordinates of a place: one number an axis, 0 where the mesh has none. */
void scenario_coords(const struct scenario *scenario, uint32_t place, uint32_t coords[AXIS_NAMES]);
uint32_t scenario_place(const struct scenario *scenario, const uint32_t coords[AXIS_NAMES]);

/* Names that a formula may use: micro_tokens inside a microbatch only. */
uint32_t scenario_names(const struct scenario *scenario, bool inside_microbatch);

void scenario_write(const struct scenario *scenario, struct emu_text *out);

/* Mesh, data, optimizer, arithmetic; the recipe is left out (derived). */
void scenario_setting(struct scenario *scenario, struct draw *draw);

/* A recipe of any kind; one that is right, whatever it looks like; one change of a given recipe,
 * whose name is returned (NULL: nothing of the kind could be changed). */
void scenario_random_recipe(struct scenario *scenario, struct draw *draw);
void scenario_right_recipe(struct scenario *scenario, struct draw *draw);
const char *scenario_mutate(struct scenario *scenario, struct draw *draw);

#endif
