/* Does the product say of a case what the reference says of it?
 *
 * The config is read, planned and run with real processes, then everything that the product claims
 * is compared: verdict, class, number of faults, every coefficient on every rank, every value, and
 * how ledger and oracle bind each other.
 */
#ifndef TESTS_PROPERTY_JUDGE_H
#define TESTS_PROPERTY_JUDGE_H

#include "reference.h"

enum judgement { JUDGEMENT_HOLDS, JUDGEMENT_BREACH, JUDGEMENT_REDRAW };

struct verdict {
    enum judgement judgement;
    enum fault fault; /* the reference's; of the first parameter that has one */
    bool exact;       /* values were compared bit for bit */
    bool hidden;      /* wrong coefficients, equal values: the oracle could not know */
};

/* why: one line for each breach. */
void judge_scenario(const struct scenario *scenario, struct verdict *verdict, struct emu_text *why);

#endif
