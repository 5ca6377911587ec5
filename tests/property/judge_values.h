/* Are the gradients that the ranks hold the ones that the reference computes? */
#ifndef TESTS_PROPERTY_JUDGE_VALUES_H
#define TESTS_PROPERTY_JUDGE_VALUES_H

#include "check/gradient_copies.h"
#include "reference.h"

struct judged_tensor {
    const struct scenario *scenario;
    const struct reference *reference;
    const struct emu_gradient_view *view;
    bool exact; /* nothing was rounded before the last factor: bits must be equal */
};

/* Coefficients of every rank, and in a linear model the values; one line for each breach. */
void judge_tensor(const struct judged_tensor *tensor, struct emu_text *why);

/* Did the step get as far as a gradient? */
bool judge_has_values(enum fault fault);

/* sum (c - 1/N) * S = 0 on every rank and for every feature: equal values, whatever the weights. */
bool judge_same_values(const struct scenario *scenario, const struct reference *reference);

#endif
