#include "check/source_words.h"

#include <inttypes.h>
#include <stdlib.h>

#define MEMBERS_NAMED 6

/* Which coordinates of one kind occur in the set. */
struct kind {
    const char *name;
    uint32_t size;
    bool *occurs; /* owned */
    uint32_t count;
};

enum { DP, CP, MICRO, KINDS };

static uint32_t coordinate_of(const struct emu_plan *plan, uint32_t source, int kind)
{
    uint32_t owner = source / plan->shape.microbatches;
    return kind == MICRO ? source % plan->shape.microbatches
           : kind == CP  ? owner % plan->shape.cp
                         : owner / plan->shape.cp;
}

static void project(const struct emu_plan *plan, const bool *in, const uint64_t *tokens,
                    struct kind kinds[KINDS])
{
    for (uint32_t s = 0; s < emu_plan_sources(plan); s++)
        for (int k = 0; k < KINDS && in[s] && tokens[s] > 0; k++) {
            bool *occurs = &kinds[k].occurs[coordinate_of(plan, s, k)];
            kinds[k].count += !*occurs;
            *occurs = true;
        }
}

/* Is the set all sources whose coordinates occur in it? */
static bool is_choice(const struct emu_plan *plan, const bool *in, const uint64_t *tokens,
                      const struct kind kinds[KINDS])
{
    for (uint32_t s = 0; s < emu_plan_sources(plan); s++) {
        bool chosen = true;
        for (int k = 0; k < KINDS; k++)
            chosen = chosen && kinds[k].occurs[coordinate_of(plan, s, k)];
        if (tokens[s] > 0 && chosen != in[s])
            return false;
    }
    return true;
}

static bool is_partial(const struct kind *kind)
{
    return kind->count < kind->size;
}

/* "0", "0 and 2", "0, 1 and 2", "0, 1, 2, 3, 4, ... 63". */
static void put_numbers(struct emu_text *out, const struct kind *kind)
{
    uint32_t put = 0;
    for (uint32_t i = 0; i < kind->size; i++) {
        if (!kind->occurs[i])
            continue;
        put++;
        if (put >= MEMBERS_NAMED && put < kind->count)
            continue;
        bool last = put == kind->count;
        emu_text_puts(out, put == 1                       ? ""
                           : !last                        ? ", "
                           : kind->count <= MEMBERS_NAMED ? " and "
                                                          : ", ... ");
        emu_text_printf(out, "%" PRIu32, i);
    }
}

/* "dp=0,cp=1 and 2". Returns whether anything was left to say. */
static bool put_owners(struct emu_text *out, const struct kind kinds[KINDS])
{
    bool put = false;
    for (int k = DP; k <= CP; k++) {
        if (!is_partial(&kinds[k]))
            continue;
        emu_text_printf(out, "%s%s=", put ? ", " : "", kinds[k].name);
        put_numbers(out, &kinds[k]);
        put = true;
    }
    return put;
}

static void put_choice(struct emu_text *out, const struct kind kinds[KINDS])
{
    bool owners_left = is_partial(&kinds[DP]) || is_partial(&kinds[CP]);
    if (is_partial(&kinds[MICRO])) {
        emu_text_puts(out, kinds[MICRO].count > 1 ? "microbatches " : "microbatch ");
        put_numbers(out, &kinds[MICRO]);
        if (!owners_left) {
            emu_text_puts(out, kinds[DP].size * kinds[CP].size > 1 ? " of every rank" : "");
            return;
        }
        emu_text_puts(out, " of ");
    }
    if (!put_owners(out, kinds))
        emu_text_puts(out, "every source");
}

static void put_list(struct emu_text *out, const struct emu_plan *plan, const bool *in,
                     const uint64_t *tokens)
{
    uint32_t put = 0;
    for (uint32_t s = 0; s < emu_plan_sources(plan); s++) {
        if (!in[s] || tokens[s] == 0)
            continue;
        if (put < MEMBERS_NAMED) {
            emu_text_puts(out, put > 0 ? "; " : "");
            emu_source_name(plan, s, out);
        }
        put++;
    }
    if (put > MEMBERS_NAMED)
        emu_text_printf(out, "; ... (%" PRIu32 " sources)", put);
}

void emu_sources_words(struct emu_text *out, const struct emu_plan *plan, const bool *in,
                       const uint64_t *tokens)
{
    const struct emu_source_shape *shape = &plan->shape;
    bool *occurs = calloc((size_t)shape->dp + shape->cp + shape->microbatches, sizeof *occurs);
    if (!occurs) {
        put_list(out, plan, in, tokens);
        return;
    }
    struct kind kinds[KINDS] = {{"dp", shape->dp, occurs, 0},
                                {"cp", shape->cp, occurs + shape->dp, 0},
                                {"mb", shape->microbatches, occurs + shape->dp + shape->cp, 0}};
    project(plan, in, tokens, kinds);
    if (is_choice(plan, in, tokens, kinds))
        put_choice(out, kinds);
    else
        put_list(out, plan, in, tokens);
    free(occurs);
}
