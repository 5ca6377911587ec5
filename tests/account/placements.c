/* Orders of the axes on nodes: two worked examples, and that prices do not contradict each other.
 */
#include "account/node_split.h"
#include "account/placement_cost.h"
#include "account_fixture.h"
#include "plain_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#define EXAMPLE                                                                                    \
    "mesh: dp=2,tp=8\n"                                                                            \
    "model: {kind: transformer, layers: 48, hidden: 8192, heads: 64, ffn: 32768, vocab: 256, "     \
    "sequence: 4096}\n"                                                                            \
    "precision: {weight: 2, gradient: 2, master: 4, moments: 8}\n"                                 \
    "batch: {micro: 1, microbatches: 16}\n"

static struct emu_links links_of(enum emu_link_algorithm algorithm)
{
    return (struct emu_links){.node = 8, .intra = 300e9, .inter = 25e9, .algorithm = algorithm};
}

static void price(struct fixture *f, const char *text, struct emu_links links,
                  struct emu_placements *placements)
{
    struct emu_text error = {0};
    fixture_begin(f, text);
    cr_assert_eq(f->status, EMU_OK, "%s", emu_text_get(&f->diagnostics));
    enum emu_status status = emu_placements_make(&f->books, &links, &error, placements);
    cr_assert_eq(status, EMU_OK, "%s\n%s", emu_text_get(&error), text);
    emu_text_finish(&error);
}

Test(account_placements, sixteen_ranks_on_two_nodes_are_as_worked_out)
{
    struct fixture f;
    struct emu_placements placements;
    price(&f, EXAMPLE, links_of(EMU_LINK_RING), &placements);
    cr_assert_eq(placements.count, 2);
    cr_assert_float_eq(placements.items[0].seconds, 1.589, 5e-4, "%f", placements.items[0].seconds);
    cr_assert_float_eq(placements.items[1].seconds, 14.463, 5e-4, "%f",
                       placements.items[1].seconds);
    cr_assert_eq(placements.items[0].order[1], 1, "tp is inside");
    struct emu_cost_row rows[EMU_COST_ROWS_MOST];
    cr_assert_eq(emu_placement_rows(&placements, &placements.items[0], rows), 2);
    cr_assert(rows[0].crosses && !rows[1].crosses);
    cr_assert_float_eq(rows[1].seconds, 16 * 48 * 7 * 67108864.0 / 300e9, 1e-9);
    emu_placements_finish(&placements);
    fixture_end(&f);
}

Test(account_placements, orders_are_equal_where_the_links_are)
{
    struct fixture f;
    struct emu_placements placements;
    price(&f, EXAMPLE, links_of(EMU_LINK_RING), &placements);
    struct emu_turning_points rate = emu_placements_by_rate(&placements);
    cr_assert_eq(rate.above.other, &placements.items[1]);
    cr_assert_float_eq(rate.above.at, 300e9, 1e3);
    cr_assert_null(rate.below.other);
    emu_placements_finish(&placements);
    fixture_end(&f);
}

/* Seconds of the order whose innermost axis is this one, with another number of microbatches. */
static double seconds_with(int microbatches, uint8_t innermost)
{
    char text[sizeof EXAMPLE + 8];
    struct fixture f;
    struct emu_placements placements;
    snprintf(text, sizeof text, "%s", EXAMPLE);
    char *count = strstr(text, "microbatches: 16") + strlen("microbatches: ");
    snprintf(count, 16, "%d}\n", microbatches);
    price(&f, text, links_of(EMU_LINK_TWO_LEVEL), &placements);
    double seconds = 0;
    for (size_t i = 0; i < placements.count; i++) {
        if (placements.items[i].order[1] == innermost)
            seconds = placements.items[i].seconds;
    }
    emu_placements_finish(&placements);
    fixture_end(&f);
    return seconds;
}

Test(account_placements, the_best_order_changes_where_two_lines_over_microbatches_meet)
{
    struct fixture f;
    struct emu_placements placements;
    price(&f, EXAMPLE, links_of(EMU_LINK_TWO_LEVEL), &placements);
    struct emu_turning_points micro = emu_placements_by_microbatches(&placements);
    cr_assert_eq(micro.below.other, &placements.items[1]);
    double tp_slope = seconds_with(2, 1) - seconds_with(1, 1);
    double dp_slope = seconds_with(2, 0) - seconds_with(1, 0);
    double tp_fixed = seconds_with(1, 1) - tp_slope;
    double dp_fixed = seconds_with(1, 0) - dp_slope;
    cr_assert_float_eq(micro.below.at, (tp_fixed - dp_fixed) / (dp_slope - tp_slope), 1e-9);
    cr_assert_lt(seconds_with(2, 0), seconds_with(2, 1));
    cr_assert_gt(seconds_with(4, 0), seconds_with(4, 1));
    emu_placements_finish(&placements);
    fixture_end(&f);
}

/* The bytes of all rows are those of the books, whatever the order and the nodes. */
static void compare_bytes(const struct emu_placements *placements, const char *text)
{
    for (size_t i = 0; i < placements->count; i++) {
        const struct emu_placement_cost *cost = &placements->items[i];
        const struct emu_traffic *want = &placements->books->rows[cost->slowest].traffic;
        struct emu_cost_row rows[EMU_COST_ROWS_MOST];
        uint32_t count = emu_placement_rows(placements, cost, rows);
        double bytes = 0;
        double seconds = 0;
        for (uint32_t k = 0; k < count; k++) {
            bytes += rows[k].bytes;
            seconds += rows[k].seconds;
        }
        double sent = (double)want->tp + (double)want->pp + (double)want->cp + (double)want->data;
        cr_assert_float_eq(bytes, sent, 1 + sent * 1e-9, "%s", text);
        cr_assert_float_eq(seconds, cost->seconds, 1e-9 + seconds * 1e-9, "%s", text);
        cr_assert(i == 0 || cost->seconds >= cost[-1].seconds, "%s", text);
    }
}

Test(account_placements, rows_add_up_to_the_books_on_random_meshes, .timeout = 60)
{
    char text[2048];
    int priced = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct fixture f;
        struct emu_placements placements;
        struct emu_text error = {0};
        struct emu_links links = links_of(EMU_LINK_RING);
        links.node = 1 + (uint32_t)(seed % 9);
        links.inter_delay = 5e-6;
        plain_config_draw(seed, text, sizeof text);
        fixture_begin(&f, text);
        cr_assert_eq(f.status, EMU_OK, "%s", text);
        if (emu_placements_make(&f.books, &links, &error, &placements) == EMU_OK) {
            compare_bytes(&placements, text);
            emu_placements_finish(&placements);
            priced++;
        }
        emu_text_finish(&error);
        fixture_end(&f);
    }
    cr_assert_gt(priced, 150);
}

Test(account_nodes, an_axis_crosses_exactly_where_a_group_has_ranks_in_two_nodes)
{
    for (uint32_t size = 1; size <= 6; size++)
        for (uint32_t stride = 1; stride <= 6; stride++)
            for (uint32_t outer = 1; outer <= 3; outer++)
                for (uint32_t node = 1; node <= 40; node++) {
                    uint32_t world = size * stride * outer;
                    bool crosses = false;
                    uint32_t least = UINT32_MAX;
                    uint32_t most = 0;
                    for (uint32_t rank = 0; rank < world; rank++) {
                        uint32_t first = rank - rank / stride % size * stride;
                        uint32_t together = 0;
                        for (uint32_t i = 0; i < size; i++)
                            together += (first + i * stride) / node == rank / node;
                        crosses = crosses || together != size;
                        least = together < least ? together : least;
                        most = together > most ? together : most;
                    }
                    uint32_t inside = emu_node_inside(size, stride, node);
                    cr_assert_eq(emu_node_crosses(size, stride, node, world), crosses);
                    cr_assert(inside == 0 || world % node || (inside == least && inside == most),
                              "size %u stride %u node %u", size, stride, node);
                }
}
