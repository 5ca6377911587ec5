/* The books against counting by hand: random models on random meshes, every rank looked at. */
#include "account_fixture.h"
#include "plain_model.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#define CASES 3000
#define TEXT_BYTES 2048

/* What the ranks hold, counted one by one. */
struct count {
    uint64_t unique, aggregate;
    uint64_t vocabulary, tied, kv, tp, shards;
    uint64_t weight, gradient, state; /* elements, over all ranks; state: master or moments */
};

static uint64_t allocated(const struct plain_model *m, struct plain_place at, bool sharded)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++)
        sum += plain_piece_of(m, &m->tensors[i], at, sharded).allocated;
    return sum;
}

static void count_ranks(const struct emu_config *config, const struct plain_model *m,
                        struct count *count)
{
    for (uint32_t rank = 0; rank < m->world; rank++) {
        struct plain_place at = plain_place_of(config, rank);
        count->weight += allocated(m, at, m->level >= 3);
        count->gradient += allocated(m, at, m->level >= 2);
        count->state += allocated(m, at, m->level >= 1);
    }
    count->aggregate = count->weight;
}

/* Copies along tp, stages and shards: all ranks with dp and cp coordinate 0. */
static void count_causes(const struct plain_model *m, struct count *count)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct plain_tensor *t = &m->tensors[i];
        count->unique += t->elements;
        count->vocabulary += t->padded - t->elements;
        for (uint32_t stage = 0; stage < m->pp; stage++) {
            uint64_t held = 0;
            for (uint32_t tp = 0; tp < m->tp; tp++) {
                struct plain_place at = {.tp = tp, .pp = stage};
                uint64_t local = plain_piece_of(m, t, at, false).allocated;
                held += local;
                if (m->level >= 3)
                    count->shards += plain_piece_of(m, t, at, true).allocated * m->shard - local;
            }
            if (held)
                *(t->heads ? &count->kv : &count->tp) += held - t->padded;
            if (held && stage != t->stage)
                count->tied += t->padded;
        }
    }
}

/* Every logical element is held by someone; nobody holds what does not exist. */
static bool elements_are_tiled(const struct emu_config *config, const struct plain_model *m)
{
    bool good = true;
    for (uint32_t i = 0; i < m->count && good; i++) {
        const struct plain_tensor *t = &m->tensors[i];
        unsigned char *seen = calloc(t->padded, 1);
        for (uint32_t rank = 0; rank < m->world && seen; rank++) {
            struct plain_piece piece =
                plain_piece_of(m, t, plain_place_of(config, rank), m->level >= 3);
            for (uint64_t e = piece.first; e < piece.end && piece.end <= t->padded; e++)
                seen[e] = 1;
            good = good && piece.end <= t->padded;
        }
        for (uint64_t e = 0; e < t->elements && seen; e++)
            good = good && seen[e];
        good = good && seen;
        free(seen);
    }
    return good;
}

static uint64_t cause(const struct emu_books *books, const char *name)
{
    for (uint32_t i = 0; i < books->cause_count; i++)
        if (!strcmp(books->causes[i].name, name))
            return books->causes[i].elements;
    return 0;
}

static uint64_t all_causes(const struct emu_books *books)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < books->cause_count; i++)
        sum += books->causes[i].elements;
    return sum;
}

static uint64_t summed_classes(const struct emu_books *books, uint64_t *ranks)
{
    uint64_t sum = 0;
    *ranks = 0;
    for (size_t i = 0; i < books->classes.count; i++) {
        sum += books->rows[i].elements * books->classes.items[i].count;
        *ranks += books->classes.items[i].count;
    }
    return sum;
}

static void compare(const struct fixture *f, const char *text)
{
    struct plain_model m;
    struct count want = {0};
    uint64_t ranks;
    const struct emu_books *books = &f->books;
    plain_model_make(f->config, &m);
    count_ranks(f->config, &m, &want);
    count_causes(&m, &want);
    cr_assert(elements_are_tiled(f->config, &m), "%s", text);
    cr_assert_eq(books->unique_elements, want.unique, "%s", text);
    cr_assert_eq(books->aggregate.elements, want.aggregate, "%s", text);
    cr_assert_eq(books->aggregate.weight, want.weight * 8, "%s", text);
    cr_assert_eq(books->aggregate.gradient, want.gradient * 8, "%s", text);
    cr_assert_eq(books->aggregate.moments, want.state * 16, "%s", text);
    cr_assert_eq(all_causes(books), want.aggregate - want.unique, "%s", text);
    cr_assert_eq(cause(books, "vocab_padding"), want.vocabulary, "%s", text);
    cr_assert_eq(cause(books, "tied_table"), want.tied, "%s", text);
    cr_assert_eq(cause(books, "kv_copies"), want.kv, "%s", text);
    cr_assert_eq(cause(books, "tp_copies"), want.tp, "%s", text);
    cr_assert_eq(cause(books, "shard_padding"), want.shards, "%s", text);
    cr_assert_eq(summed_classes(books, &ranks), want.aggregate, "%s", text);
    cr_assert_eq(ranks, m.world, "%s", text);
}

static void compare_ranks(const struct fixture *f, const char *text)
{
    struct plain_model m;
    plain_model_make(f->config, &m);
    for (uint32_t rank = 0; rank < m.world; rank++) {
        struct emu_rank_class class = emu_rank_class_of(&f->books.shapes, rank);
        struct emu_holding row;
        struct plain_place at = plain_place_of(f->config, rank);
        cr_assert(emu_holding_of(&f->books.shapes, &class, &row));
        cr_assert_eq(row.elements, allocated(&m, at, m.level >= 3), "rank %u\n%s", rank, text);
        cr_assert_eq(row.gradient, allocated(&m, at, m.level >= 2) * 8, "rank %u\n%s", rank, text);
    }
}

Test(account_books, causes_are_aggregate_minus_unique_on_random_meshes, .timeout = 120)
{
    char text[TEXT_BYTES];
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct fixture f;
        plain_config_draw(seed, text, sizeof text);
        fixture_begin(&f, text);
        cr_assert_eq(f.status, EMU_OK, "%s\n%s", text, emu_text_get(&f.diagnostics));
        compare(&f, text);
        compare_ranks(&f, text);
        fixture_end(&f);
    }
}
