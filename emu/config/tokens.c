#include "base/checked.h"
#include "base/number.h"
#include "config/reading.h"

#include <inttypes.h>
#include <string.h>

/* A masked token takes the room of a whole one, so that a short text could ask for much memory. */
#define MOST_VALUES ((uint64_t)1 << 22)

struct filling {
    struct emu_reading *r;
    struct emu_token_list *list;
    uint64_t source; /* sources that were begun */
};

static bool complain(struct emu_reading *r, const struct emu_node *node, const char *text)
{
    if (node->kind != EMU_NODE_BROKEN)
        emu_complaints_add(r->complaints, emu_node_spot(node), "'data.tokens': %s, not %s", text,
                           emu_node_describe(node));
    return false;
}

/* A list with exactly as many entries as the mesh axis has coordinates. */
static bool expect_axis(struct emu_reading *r, const struct emu_node *node, const char *axis)
{
    uint32_t size = emu_mesh_size(&r->config->mesh, axis);
    if (node->kind != EMU_NODE_LIST) {
        bool cp = !strcmp(axis, "cp");
        return complain(r, node,
                        cp ? "a dp entry is a list with one entry for each cp coordinate"
                           : "it must be a list with one entry for each dp coordinate");
    }
    if (node->count == size)
        return true;
    emu_complaints_add(r->complaints, emu_node_spot(node),
                       "'data.tokens': the number of entries here is %u, but the size of %s is %u",
                       node->count, axis, size);
    emu_complaints_note(r->complaints, "the levels are [dp]%s[microbatch][token]",
                        emu_mesh_size(&r->config->mesh, "cp") > 1 ? "[cp]" : "");
    return false;
}

static bool read_number(struct emu_reading *r, const struct emu_node *node, double *out)
{
    if (node->kind == EMU_NODE_SCALAR && node->plain && emu_parse_f64(node->text, out))
        return true;
    if (node->kind == EMU_NODE_SCALAR && !emu_node_is_null(node))
        emu_complaints_add(r->complaints, emu_node_spot(node),
                           "'data.tokens': '%.60s' is not a finite number", node->text);
    else
        complain(r, node, "a number is needed here");
    return false;
}

static bool read_token(struct filling *f, const struct emu_node *node)
{
    struct emu_token_list *list = f->list;
    double *value = list->value + list->tokens * list->features;
    bool *masked = &list->masked[list->tokens];
    list->tokens++;
    *masked = emu_node_is_null(node);
    if (*masked)
        return true;
    if (node->kind != EMU_NODE_LIST && list->features == 1)
        return read_number(f->r, node, value);
    if (node->kind != EMU_NODE_LIST)
        return complain(f->r, node, "a token is a list of as many numbers as 'model.features'");
    if (node->count != list->features) {
        emu_complaints_add(f->r->complaints, emu_node_spot(node),
                           "'data.tokens': a token of %u numbers, but 'model.features' is %" PRIu64,
                           node->count, list->features);
        return false;
    }
    bool good = true;
    for (const struct emu_node *e = node->first; e; e = e->next)
        good = read_number(f->r, e, value++) && good;
    return good;
}

/* All microbatches of one dp x cp coordinate. */
static bool read_rank(struct filling *f, const struct emu_node *node)
{
    struct emu_token_list *list = f->list;
    bool good = true;
    for (const struct emu_node *micro = node->first; micro; micro = micro->next) {
        if (micro->kind != EMU_NODE_LIST)
            return complain(f->r, micro, "a microbatch is a list of tokens");
        for (const struct emu_node *token = micro->first; token; token = token->next)
            good = read_token(f, token) && good;
        list->first[++f->source] = list->tokens;
    }
    return good;
}

/* Lists of microbatches in order of dp, cp; their number must be the same everywhere. */
static bool check_rank(struct emu_reading *r, const struct emu_node *node,
                       struct emu_token_list *list)
{
    if (node->kind != EMU_NODE_LIST)
        return complain(r, node, "a rank's entry is a list of microbatches");
    if (!node->count) {
        emu_complaints_add(r->complaints, emu_node_spot(node),
                           "'data.tokens': a rank needs at least one microbatch");
        emu_complaints_note(r->complaints, "an empty microbatch is written [[]]");
        return false;
    }
    if (!list->microbatches)
        list->microbatches = node->count;
    if (list->microbatches != node->count) {
        emu_complaints_add(
            r->complaints, emu_node_spot(node),
            "'data.tokens': the number of microbatches here is %u, but %u in the first "
            "entry",
            node->count, list->microbatches);
        return false;
    }
    for (const struct emu_node *micro = node->first; micro; micro = micro->next)
        list->tokens += micro->count;
    return true;
}

/* Visit the entry of each dp x cp coordinate; stops at the first false. */
static bool for_ranks(struct filling *f, bool fill)
{
    struct emu_reading *r = f->r;
    bool cp = f->list->cp_count > 1;
    bool good = true;
    for (const struct emu_node *d = r->tokens->first; d; d = d->next) {
        if (cp && !fill && !expect_axis(r, d, "cp")) {
            good = false;
            continue;
        }
        for (const struct emu_node *c = cp ? d->first : d; c; c = cp ? c->next : NULL)
            good = (fill ? read_rank(f, c) : check_rank(r, c, f->list)) && good;
    }
    return good;
}

static bool allocate(struct emu_reading *r, struct emu_token_list *list)
{
    uint64_t values;
    if (!emu_mul_fits(list->tokens, list->features, &values) || values > MOST_VALUES) {
        emu_complaints_add(r->complaints, emu_node_spot(r->tokens),
                           "'data.tokens': %" PRIu64 " tokens of %" PRIu64
                           " features are more than %" PRIu64 " numbers",
                           list->tokens, list->features, MOST_VALUES);
        return false;
    }
    size_t sources = (size_t)list->dp_count * list->cp_count * list->microbatches;
    list->first = emu_store_alloc(r->store, sources + 1, sizeof *list->first);
    list->value = emu_store_alloc(r->store, values, sizeof *list->value);
    list->masked = emu_store_alloc(r->store, list->tokens, sizeof *list->masked);
    return list->first && list->value && list->masked;
}

void emu_tokens_read(struct emu_reading *r)
{
    struct emu_token_list *list = emu_store_alloc(r->store, 1, sizeof *list);
    if (!list || !expect_axis(r, r->tokens, "dp"))
        return;
    list->dp_count = emu_mesh_size(&r->config->mesh, "dp");
    list->cp_count = emu_mesh_size(&r->config->mesh, "cp");
    list->features = r->config->model.features;
    struct filling f = {.r = r, .list = list};
    if (!for_ranks(&f, false) || !allocate(r, list))
        return;
    list->tokens = 0;
    if (!for_ranks(&f, true))
        return;
    r->config->data.inline_tokens = list;
}
