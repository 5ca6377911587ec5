#include "check/ledger_judge.h"

#include <criterion/criterion.h>

#define MOST 8

struct board {
    uint64_t cells[4][MOST];
    const uint64_t *rows[4];
    struct emu_ledger_sources sources;
    struct emu_ledger_rows view;
    uint64_t tokens[MOST];
};

static uint64_t field(int64_t n, int64_t d)
{
    struct emu_rational r;
    uint64_t out;
    cr_assert_eq(emu_rational_make(n, d, &r), EMU_OK);
    cr_assert_eq(emu_rational_to_field(r, &out), EMU_OK);
    return out;
}

/* dp ranks with microbatches each and these token counts; `ranks` copies start as right. */
static void set_up(struct board *b, uint32_t dp, uint32_t micro, uint32_t ranks,
                   const uint64_t *tokens)
{
    *b = (struct board){0};
    uint64_t all = 0;
    for (uint32_t s = 0; s < dp * micro; s++)
        all += b->tokens[s] = tokens[s];
    for (uint32_t r = 0; r < ranks; r++) {
        for (uint32_t s = 0; s < dp * micro; s++)
            b->cells[r][s] = field(1, (int64_t)all);
        b->rows[r] = b->cells[r];
    }
    b->sources = (struct emu_ledger_sources){dp, 1, micro, 1, false, b->tokens, all};
    b->view = (struct emu_ledger_rows){b->rows, ranks};
}

static struct emu_ledger_judgement judge(const struct board *b, struct emu_ledger_path path)
{
    struct emu_ledger_judgement out;
    emu_ledger_judge(&b->sources, &b->view, &path, &out);
    return out;
}

static void scale(struct board *b, int64_t n, int64_t d)
{
    for (uint32_t r = 0; r < b->view.count; r++)
        for (uint32_t s = 0; s < MOST; s++)
            b->cells[r][s] = field(n, d);
}

Test(ledger_judge, one_over_tokens_everywhere_is_right)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){3, 1});
    cr_assert(judge(&b, (struct emu_ledger_path){0}).right);
}

Test(ledger_judge, sources_without_tokens_do_not_count)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){3, 0});
    b.cells[0][1] = 0;
    b.cells[1][1] = field(7, 1);
    cr_assert(judge(&b, (struct emu_ledger_path){0}).right);
}

Test(ledger_judge, a_source_on_some_copies_only_is_a_missing_reduction)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 1});
    b.cells[0][1] = 0;
    b.cells[1][0] = 0;
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(!j.right && j.class_id == EMU_CLASS_MISSING_REDUCTION);
}

Test(ledger_judge, a_microbatch_on_no_copy_is_lost)
{
    struct board b;
    set_up(&b, 1, 2, 2, (uint64_t[]){2, 3});
    b.cells[0][0] = b.cells[1][0] = 0;
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(j.class_id == EMU_CLASS_LOST_MICROBATCH && j.lost_source == 0);
}

Test(ledger_judge, a_source_on_no_copy_weighs_nothing_while_its_microbatch_is_there)
{
    struct board b;
    set_up(&b, 2, 2, 2, (uint64_t[]){2, 3, 1, 1});
    b.cells[0][1] = b.cells[1][1] = 0;
    cr_assert_eq(judge(&b, (struct emu_ledger_path){0}).class_id, EMU_CLASS_TOKEN_WEIGHT);
    b.cells[0][3] = b.cells[1][3] = 0;
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(j.class_id == EMU_CLASS_LOST_MICROBATCH && j.lost_source == 1);
}

Test(ledger_judge, a_microbatch_without_tokens_cannot_be_lost)
{
    struct board b;
    set_up(&b, 1, 3, 1, (uint64_t[]){2, 0, 3});
    b.cells[0][1] = 0;
    b.cells[0][2] = field(2, 5);
    cr_assert_eq(judge(&b, (struct emu_ledger_path){0}).class_id, EMU_CLASS_TOKEN_WEIGHT);
}

Test(ledger_judge, nothing_of_any_source_is_a_wrong_scale_of_zero)
{
    struct board b;
    set_up(&b, 2, 2, 2, (uint64_t[]){1, 2, 3, 4});
    scale(&b, 0, 1);
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(j.class_id == EMU_CLASS_WRONG_SCALE && j.uniform && j.ratio.numerator == 0);
}

Test(ledger_judge, copies_that_differ_are_a_wrong_scale_before_their_weights_are_looked_at)
{
    struct board b;
    set_up(&b, 1, 2, 2, (uint64_t[]){2, 3});
    b.cells[0][0] = field(1, 2);
    b.cells[1][0] = field(1, 3);
    cr_assert_eq(judge(&b, (struct emu_ledger_path){0}).class_id, EMU_CLASS_WRONG_SCALE);
}

Test(ledger_judge, one_factor_for_all_is_a_wrong_scale_with_its_ratio)
{
    struct board b;
    set_up(&b, 2, 2, 2, (uint64_t[]){1, 2, 3, 4});
    scale(&b, 1, 5);
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(j.class_id == EMU_CLASS_WRONG_SCALE && j.uniform);
    cr_assert(j.ratio.numerator == 2 && j.ratio.denominator == 1);
}

Test(ledger_judge, the_path_names_the_cause_of_one_factor)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 1});
    scale(&b, 1, 1);
    cr_assert_eq(judge(&b, (struct emu_ledger_path){.summed_again = true}).class_id,
                 EMU_CLASS_DOUBLE_REDUCTION);
    cr_assert_eq(judge(&b, (struct emu_ledger_path){.summed_replicated = true}).class_id,
                 EMU_CLASS_REDUCED_REPLICATED);
}

Test(ledger_judge, a_suspicious_path_with_right_coefficients_is_right)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 1});
    cr_assert(judge(&b, (struct emu_ledger_path){true, true}).right);
}

Test(ledger_judge, copies_that_differ_by_their_own_factor_are_a_wrong_scale)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 3});
    b.cells[0][0] = b.cells[0][1] = field(1, 2);
    b.cells[1][0] = b.cells[1][1] = field(1, 6);
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert(j.class_id == EMU_CLASS_WRONG_SCALE && !j.uniform);
}

static enum emu_weight_law law_for(const int64_t denominators[4], const uint64_t tokens[4])
{
    struct board b;
    set_up(&b, 2, 2, 1, tokens);
    for (int s = 0; s < 4; s++)
        b.cells[0][s] = field(1, denominators[s]);
    struct emu_ledger_judgement j = judge(&b, (struct emu_ledger_path){0});
    cr_assert_eq(j.class_id, EMU_CLASS_TOKEN_WEIGHT);
    cr_assert(j.spread_known && emu_rational_compare(j.least, j.most) < 0);
    return j.law;
}

Test(ledger_judge, means_of_means_are_told_apart)
{
    static const uint64_t tokens[] = {1, 3, 2, 2};
    cr_assert_eq(law_for((int64_t[]){4, 12, 8, 8}, tokens), EMU_WEIGHT_SOURCE_MEANS);
    cr_assert_eq(law_for((int64_t[]){6, 10, 6, 10}, tokens), EMU_WEIGHT_MICRO_MEANS);
    cr_assert_eq(law_for((int64_t[]){8, 8, 20, 20}, (uint64_t[]){1, 3, 5, 5}),
                 EMU_WEIGHT_RANK_MEANS);
    cr_assert_eq(law_for((int64_t[]){5, 6, 7, 9}, tokens), EMU_WEIGHT_OTHER);
}

/* Two ends of a pipeline: the first has the embedding's use, the last the head's. */
Test(ledger_judge, a_tied_table_that_was_not_summed_is_unsynced)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 1});
    b.sources.uses = 2;
    b.sources.tied = true;
    b.tokens[2] = b.tokens[3] = 1;
    for (int s = 0; s < 4; s++)
        b.cells[0][s] = b.cells[1][s] = field(1, 2);
    cr_assert(judge(&b, (struct emu_ledger_path){0}).right);
    b.cells[0][2] = b.cells[0][3] = b.cells[1][0] = b.cells[1][1] = 0;
    cr_assert_eq(judge(&b, (struct emu_ledger_path){0}).class_id, EMU_CLASS_TIED_UNSYNCED);
}

/* The ends were summed after microbatch 0; what came later is in one use alone. */
Test(ledger_judge, a_tied_table_that_was_summed_in_part_is_unsynced)
{
    struct board b;
    set_up(&b, 2, 1, 2, (uint64_t[]){1, 1});
    b.sources.uses = 2;
    b.sources.tied = true;
    b.tokens[2] = b.tokens[3] = 1;
    for (int s = 0; s < 4; s++)
        b.cells[0][s] = b.cells[1][s] = field(1, 2);
    b.cells[0][3] = b.cells[1][1] = 0;
    cr_assert_eq(judge(&b, (struct emu_ledger_path){0}).class_id, EMU_CLASS_TIED_UNSYNCED);
}

Test(ledger_judge, a_mean_of_cp_slices_is_told_from_one_of_ranks)
{
    struct board b;
    const uint64_t tokens[] = {3, 1, 5, 2}; /* dp 0: slices 3 and 1; dp 1: 5 and 2 */
    set_up(&b, 4, 1, 2, tokens);
    b.sources.dp = b.sources.cp = 2;
    for (uint32_t s = 0; s < 4; s++)
        b.cells[0][s] = b.cells[1][s] = field(1, s % 2 ? 2 * (1 + 2) : 2 * (3 + 5));
    struct emu_ledger_judgement judgement = judge(&b, (struct emu_ledger_path){0});
    cr_expect_eq(judgement.class_id, EMU_CLASS_TOKEN_WEIGHT);
    cr_expect_eq(judgement.law, EMU_WEIGHT_SLICE_MEANS);
}
