#include "check/ledger_judge.h"

#include "ledger/field.h"

struct view {
    const struct emu_ledger_sources *sources;
    const struct emu_ledger_rows *rows;
    uint32_t count;  /* sources */
    uint64_t wanted; /* 1/tokens as a field element; 0 where there is no token at all */
};

static bool counts(const struct view *v, uint32_t source)
{
    return v->sources->tokens[source] > 0;
}

static bool all_right(const struct view *v)
{
    for (uint32_t r = 0; r < v->rows->count; r++)
        for (uint32_t s = 0; s < v->count; s++)
            if (counts(v, s) && v->rows->rows[r][s] != v->wanted)
                return false;
    return true;
}

/* A source that some holders have and others have not. */
static bool find_missing(const struct view *v, struct emu_ledger_judgement *out)
{
    for (uint32_t s = 0; s < v->count; s++) {
        if (!counts(v, s))
            continue;
        bool first = v->rows->rows[0][s] != 0;
        for (uint32_t r = 1; r < v->rows->count; r++) {
            if ((v->rows->rows[r][s] != 0) == first)
                continue;
            out->lost_source = s;
            out->worst_row = first ? r : 0;
            return true;
        }
    }
    return false;
}

/* A tied table: a holder has a source in one of the uses and not in another. */
static bool lacks_a_use(const struct view *v)
{
    uint32_t sources = v->count / v->sources->uses;
    for (uint32_t r = 0; r < v->rows->count; r++)
        for (uint32_t lane = sources; lane < v->count; lane++) {
            const uint64_t *row = v->rows->rows[r];
            if (counts(v, lane) && !row[lane] != !row[lane % sources])
                return true;
        }
    return false;
}

/* Is every source of a microbatch that counts outside the first row? *lost: the first of them. */
static bool microbatch_is_lost(const struct view *v, uint32_t micro, uint32_t *lost)
{
    uint32_t first = 0;
    bool any = false;
    for (uint32_t s = micro; s < v->count; s += v->sources->microbatches) {
        if (!counts(v, s))
            continue;
        if (v->rows->rows[0][s] != 0)
            return false;
        if (!any)
            first = s;
        any = true;
    }
    if (any)
        *lost = first;
    return any;
}

/* A microbatch that no holder has anything of; the rows are equal. */
static bool find_lost(const struct view *v, struct emu_ledger_judgement *out)
{
    for (uint32_t m = 0; m < v->sources->microbatches; m++)
        if (microbatch_is_lost(v, m, &out->lost_source))
            return true;
    return false;
}

/* Whether all sources of a row have one coefficient. */
static bool row_uniform(const struct view *v, uint32_t row, uint64_t *coefficient)
{
    bool found = false;
    for (uint32_t s = 0; s < v->count; s++) {
        if (!counts(v, s))
            continue;
        if (found && v->rows->rows[row][s] != *coefficient)
            return false;
        *coefficient = v->rows->rows[row][s];
        found = true;
    }
    return found;
}

/* Whether the copies are equal. */
static bool rows_equal(const struct view *v)
{
    for (uint32_t r = 1; r < v->rows->count; r++)
        for (uint32_t s = 0; s < v->count; s++)
            if (counts(v, s) && v->rows->rows[r][s] != v->rows->rows[0][s])
                return false;
    return true;
}

/* c * tokens as a fraction: how much too large a coefficient is. */
static bool ratio_of(const struct view *v, uint64_t coefficient, struct emu_rational *out)
{
    uint64_t scaled = emu_field_mul(coefficient, emu_field_reduce(v->sources->all));
    return emu_rational_from_field(scaled, out) == EMU_OK;
}

/* Least and most ratio in one row. */
static void measure_spread(const struct view *v, uint32_t row, struct emu_ledger_judgement *out)
{
    bool any = false;
    for (uint32_t s = 0; s < v->count; s++) {
        struct emu_rational ratio;
        if (!counts(v, s))
            continue;
        if (!ratio_of(v, v->rows->rows[row][s], &ratio))
            return;
        if (!any || emu_rational_compare(ratio, out->least) < 0)
            out->least = ratio;
        if (!any || emu_rational_compare(ratio, out->most) > 0)
            out->most = ratio;
        any = true;
    }
    out->spread_known = any;
}

/* Tokens that a law of weights divides a source's coefficient by. */
static uint64_t divisor_of(const struct view *v, enum emu_weight_law law, uint32_t source)
{
    uint32_t m = v->sources->microbatches;
    uint64_t sum = 0;
    switch (law) {
    case EMU_WEIGHT_SOURCE_MEANS:
        return v->sources->tokens[source];
    case EMU_WEIGHT_RANK_MEANS:
        for (uint32_t s = source - source % m; s < source - source % m + m; s++)
            sum += v->sources->tokens[s];
        return sum;
    case EMU_WEIGHT_SLICE_MEANS:
        for (uint32_t s = 0; s < v->count / v->sources->uses; s++)
            sum +=
                s / m % v->sources->cp == source / m % v->sources->cp ? v->sources->tokens[s] : 0;
        return sum;
    case EMU_WEIGHT_MICRO_MEANS:
        for (uint32_t s = source % m; s < v->count / v->sources->uses; s += m)
            sum += v->sources->tokens[s];
        return sum;
    case EMU_WEIGHT_OTHER:
        break;
    }
    return 0;
}

/* c times the law's divisor is the same for all sources that count. */
static bool obeys(const struct view *v, uint32_t row, enum emu_weight_law law)
{
    uint64_t product = 0;
    bool any = false;
    for (uint32_t s = 0; s < v->count; s++) {
        if (!counts(v, s))
            continue;
        uint64_t divisor = emu_field_reduce(divisor_of(v, law, s));
        uint64_t here = emu_field_mul(v->rows->rows[row][s], divisor);
        if (any && here != product)
            return false;
        product = here;
        any = true;
    }
    return any;
}

static enum emu_weight_law law_of(const struct view *v, uint32_t row)
{
    static const enum emu_weight_law laws[] = {EMU_WEIGHT_MICRO_MEANS, EMU_WEIGHT_RANK_MEANS,
                                               EMU_WEIGHT_SLICE_MEANS, EMU_WEIGHT_SOURCE_MEANS};
    for (unsigned i = 0; i < sizeof laws / sizeof laws[0]; i++)
        if (obeys(v, row, laws[i]))
            return laws[i];
    return EMU_WEIGHT_OTHER;
}

/* The first holder whose row is not all right. */
static uint32_t wrong_row(const struct view *v)
{
    for (uint32_t r = 0; r < v->rows->count; r++)
        for (uint32_t s = 0; s < v->count; s++)
            if (counts(v, s) && v->rows->rows[r][s] != v->wanted)
                return r;
    return 0;
}

/* Copies that differ though they hold the same sources; or one factor for all. */
static bool judge_factor(const struct view *v, const struct emu_ledger_path *path,
                         struct emu_ledger_judgement *out)
{
    uint64_t coefficient = 0;
    if (!rows_equal(v)) {
        out->class_id = EMU_CLASS_WRONG_SCALE;
        return true;
    }
    if (!row_uniform(v, 0, &coefficient))
        return false;
    out->class_id = EMU_CLASS_WRONG_SCALE;
    out->uniform = ratio_of(v, coefficient, &out->ratio);
    if (path->summed_again)
        out->class_id = EMU_CLASS_DOUBLE_REDUCTION;
    else if (path->summed_replicated)
        out->class_id = EMU_CLASS_REDUCED_REPLICATED;
    return true;
}

/* The order of the classes is that of the contract: what is missing before what is scaled. */
static void classify(const struct view *v, const struct emu_ledger_path *path,
                     struct emu_ledger_judgement *out)
{
    out->worst_row = wrong_row(v);
    if (find_missing(v, out)) {
        bool use = v->sources->tied && lacks_a_use(v);
        out->class_id = use ? EMU_CLASS_TIED_UNSYNCED : EMU_CLASS_MISSING_REDUCTION;
        return;
    }
    if (judge_factor(v, path, out))
        return;
    if (find_lost(v, out)) {
        out->class_id = EMU_CLASS_LOST_MICROBATCH;
        return;
    }
    out->class_id = EMU_CLASS_TOKEN_WEIGHT;
    out->law = law_of(v, out->worst_row);
    measure_spread(v, out->worst_row, out);
}

void emu_ledger_judge(const struct emu_ledger_sources *sources, const struct emu_ledger_rows *rows,
                      const struct emu_ledger_path *path, struct emu_ledger_judgement *out)
{
    struct view v = {.sources = sources,
                     .rows = rows,
                     .count = sources->dp * sources->cp * sources->microbatches * sources->uses};
    uint64_t tokens = emu_field_reduce(sources->all);
    v.wanted = tokens ? emu_field_inverse(tokens) : 0;
    *out = (struct emu_ledger_judgement){.right = all_right(&v)};
    if (!out->right)
        classify(&v, path, out);
}
