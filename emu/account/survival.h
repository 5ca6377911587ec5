/* After k random losses: what is the probability that every element still has a holder?
 *
 * Capacity (bytes left) says nothing about it. The state falls into S disjoint sets of R holders
 * each; it survives as long as no set is lost whole. Norms, copied k and v and tied tables do not
 * decide where such a set is among their holders, which is checked; a shard of padding alone is no
 * loss.
 *
 *   P(k) = sum over j of (-1)^j C(S, j) C(W - R*j, k - R*j) / C(W, k)
 *
 * over all choices of k out of W, each equally likely. Weights: S = pp*tp sets of the world/S
 * copies (with zero3 one set for each shard too); optimizer: one set for each shard from zero1 on.
 * With nodes of G ranks W counts nodes, and the sets are those of different nodes: holders on one
 * node are lost together. (Gemini, SOSP 2023, has a bound for the same.)
 */
#ifndef EMU_ACCOUNT_SURVIVAL_H
#define EMU_ACCOUNT_SURVIVAL_H

#include "account/books.h"
#include "account/natural.h"

enum emu_state_part { EMU_STATE_WEIGHTS, EMU_STATE_OPTIMIZER, EMU_STATE_COUNT };

/* S sets of R units out of W units. */
struct emu_holder_sets {
    uint64_t sets, per_set, units;
};

#define EMU_KILLING_SHOWN 16

struct emu_survival {
    uint32_t node_size; /* 1: single ranks are lost */
    struct emu_holder_sets sets[EMU_STATE_COUNT];
    uint32_t shown[EMU_STATE_COUNT]; /* of a smallest killing set: the first of its units */
    uint32_t killing[EMU_STATE_COUNT][EMU_KILLING_SHOWN];
};

/* EMU_EUNSUPPORTED with one line in *error where nodes of that size cut an axis unevenly, or where
 * sets have two sizes (tiny models: elements of a tied table or of a tensor that tp copies whose
 * holders nothing else shares). */
EMU_MUST_CHECK enum emu_status emu_survival_find(const struct emu_books *books, uint32_t node_size,
                                                 struct emu_text *error,
                                                 struct emu_survival *survival);

/* Most losses whose exact fractions are computed in reasonable time; at most `asked`. */
uint64_t emu_survival_most(uint64_t units, uint64_t asked);

/* Bytes left: floor((W - k)/W * state of all ranks). */
uint64_t emu_survival_capacity(const struct emu_books *books, uint64_t units, uint64_t lost);

/* The odds of 1, 2, 3... losses one after the other. Zero-initialise, then begin. */
struct emu_odds {
    struct emu_holder_sets sets;
    uint64_t lost;
    struct emu_natural *terms; /* C(S, j) * C(W - R*j, lost - R*j) for each j; owned */
    uint64_t term_count, term_room;
    struct emu_natural chosen; /* C(S, j) of the last term */
    bool failed;
};

void emu_odds_begin(struct emu_odds *odds, struct emu_holder_sets sets);
void emu_odds_finish(struct emu_odds *odds);

/* The next one as a number and as an exact fraction; text: finished by the caller. false: as below.
 */
EMU_MUST_CHECK bool emu_odds_next_text(struct emu_odds *odds, double *probability,
                                       struct emu_text *exact);

/* One more loss (at most W in all): the probability in lowest terms. false: out of memory. */
EMU_MUST_CHECK bool emu_odds_next(struct emu_odds *odds, struct emu_natural *numerator,
                                  struct emu_natural *denominator);

#endif
