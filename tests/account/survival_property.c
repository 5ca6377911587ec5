/* The odds against trying out every choice of lost ranks, element by element. */
#include "account/survival.h"
#include "account_fixture.h"
#include "plain_model.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define CASES 1000
#define TEXT_BYTES 2048
#define UNITS_MOST 12
#define HOLDERS_MOST 4096

/* Sets of units, as bits, that hold some element alone between them. */
struct holders {
    uint32_t masks[HOLDERS_MOST];
    uint32_t count;
};

static void keep(struct holders *holders, uint32_t mask)
{
    for (uint32_t i = 0; i < holders->count; i++)
        if (holders->masks[i] == mask)
            return;
    cr_assert_lt(holders->count, HOLDERS_MOST);
    holders->masks[holders->count++] = mask;
}

static void find_holders(const struct emu_config *config, const struct plain_model *m, bool sharded,
                         uint32_t node, struct holders *holders)
{
    holders->count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct plain_tensor *t = &m->tensors[i];
        for (uint64_t e = 0; e < t->elements; e++) {
            uint32_t mask = 0;
            for (uint32_t rank = 0; rank < m->world; rank++) {
                struct plain_piece piece =
                    plain_piece_of(m, t, plain_place_of(config, rank), sharded);
                if (e >= piece.first && e < piece.end)
                    mask |= UINT32_C(1) << rank / node;
            }
            keep(holders, mask);
        }
    }
}

/* Choices of `lost` units after which every element has a holder; *all: choices there are. */
static uint64_t survivors(const struct holders *holders, uint32_t units, uint32_t lost,
                          uint64_t *all)
{
    uint64_t good = 0;
    *all = 0;
    for (uint32_t choice = 0; choice < UINT32_C(1) << units; choice++) {
        if ((uint32_t)__builtin_popcount(choice) != lost)
            continue;
        bool whole = true;
        for (uint32_t i = 0; i < holders->count && whole; i++)
            whole = (holders->masks[i] & ~choice) != 0;
        good += whole;
        ++*all;
    }
    return good;
}

static uint64_t value_of(const struct emu_natural *n)
{
    uint64_t value = 0;
    for (size_t i = n->count; i-- > 0;)
        value = value << 32 | n->limbs[i];
    return value;
}

static uint32_t smallest(const struct holders *holders)
{
    uint32_t least = UNITS_MOST + 1;
    for (uint32_t i = 0; i < holders->count; i++) {
        uint32_t size = (uint32_t)__builtin_popcount(holders->masks[i]);
        least = size < least ? size : least;
    }
    return least;
}

static void compare(const struct emu_survival *survival, int part, const struct holders *holders,
                    const char *text)
{
    const struct emu_holder_sets *sets = &survival->sets[part];
    struct emu_odds odds;
    emu_odds_begin(&odds, *sets);
    cr_assert_eq(sets->per_set, smallest(holders), "part %d\n%s", part, text);
    uint32_t first = 0;
    for (uint32_t i = 0; i < survival->shown[part]; i++)
        first |= UINT32_C(1) << survival->killing[part][i];
    bool found = false;
    for (uint32_t i = 0; i < holders->count; i++)
        found = found || holders->masks[i] == first;
    cr_assert(found, "the killing set shown is none, part %d\n%s", part, text);
    for (uint32_t lost = 1; lost <= sets->units; lost++) {
        struct emu_natural a = {0};
        struct emu_natural b = {0};
        uint64_t all;
        uint64_t good = survivors(holders, (uint32_t)sets->units, lost, &all);
        cr_assert(emu_odds_next(&odds, &a, &b));
        cr_assert_eq(value_of(&a) * all, value_of(&b) * good,
                     "part %d, %u lost: %" PRIu64 "/%" PRIu64 ", want %" PRIu64 "/%" PRIu64 "\n%s",
                     part, lost, value_of(&a), value_of(&b), good, all, text);
        emu_natural_finish(&a);
        emu_natural_finish(&b);
    }
    emu_odds_finish(&odds);
}

/* One mesh with one size of nodes; false where that size is refused. */
static bool try_nodes(const struct fixture *f, uint32_t node, const char *text)
{
    static struct holders holders;
    struct plain_model m;
    struct emu_survival survival;
    struct emu_text error = {0};
    plain_model_make(f->config, &m);
    enum emu_status status = emu_survival_find(&f->books, node, &error, &survival);
    emu_text_finish(&error);
    if (status != EMU_OK)
        return false;
    find_holders(f->config, &m, m.level >= 3, node, &holders);
    compare(&survival, EMU_STATE_WEIGHTS, &holders, text);
    find_holders(f->config, &m, m.level >= 1, node, &holders);
    compare(&survival, EMU_STATE_OPTIMIZER, &holders, text);
    return true;
}

Test(account_survival, odds_are_those_of_trying_out_every_choice, .timeout = 200)
{
    char text[TEXT_BYTES];
    uint32_t tried = 0;
    uint32_t with_nodes = 0;
    uint32_t refused = 0;
    for (uint64_t seed = 0; tried < CASES; seed++) {
        struct fixture f;
        plain_config_draw(seed, text, sizeof text);
        fixture_begin(&f, text);
        cr_assert_eq(f.status, EMU_OK, "%s", text);
        uint32_t world = f.config->mesh.world;
        for (uint32_t node = 1; node <= world; node++) {
            if (world % node || world / node > UNITS_MOST || world > 24 ||
                f.books.unique_elements > 3000)
                continue;
            bool done = try_nodes(&f, node, text);
            refused += !done && node == 1;
            tried += done;
            with_nodes += done && node > 1;
        }
        fixture_end(&f);
    }
    cr_assert_gt(with_nodes, CASES / 4);
    cr_assert_lt(refused, CASES / 40); /* sets of two sizes are rare */
}

Test(account_survival, sixteen_ranks_in_pairs_survive_four_losses_in_8_of_13)
{
    struct emu_odds odds;
    struct emu_natural a = {0};
    struct emu_natural b = {0};
    emu_odds_begin(&odds, (struct emu_holder_sets){.sets = 8, .per_set = 2, .units = 16});
    for (int lost = 1; lost <= 4; lost++)
        cr_assert(emu_odds_next(&odds, &a, &b));
    cr_assert_eq(value_of(&a), 8);
    cr_assert_eq(value_of(&b), 13);
    emu_natural_finish(&a);
    emu_natural_finish(&b);
    emu_odds_finish(&odds);
}

Test(account_survival, losses_that_are_too_many_to_be_exact_are_known_before)
{
    cr_assert_eq(emu_survival_most(16, 16), 16);
    cr_assert_eq(emu_survival_most(98304, 64), 64);
    cr_assert_lt(emu_survival_most(UINT64_C(1) << 31, UINT64_C(1) << 31), 5000);
}
