#include "check/gradient_copies.h"

#include "check/evidence.h"
#include "check/ledger_evidence.h"

#include <stdlib.h>
#include <string.h>

struct source {
    const struct emu_evidence *evidence;
    uint32_t tensor;
    uint32_t parts; /* ranks that together hold the tensor once: tp where it is sharded, else 1 */
};

/* Rank that holds part `part` in the replica of this rank. */
static uint32_t holder(const struct source *s, uint32_t rank, uint32_t part)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(s->evidence);
    if (s->parts == 1)
        return rank;
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coords);
    coords[emu_mesh_find(mesh, "tp")] = part;
    return emu_mesh_rank(mesh, coords);
}

static bool same_ledger(const struct source *s, uint32_t a, uint32_t b)
{
    const uint64_t *p = emu_ledger_row(s->evidence, a, s->tensor);
    const uint64_t *q = emu_ledger_row(s->evidence, b, s->tensor);
    size_t bytes = emu_tensor_lanes(s->evidence->plan, s->tensor) * sizeof *p;
    return !p || !q || memcmp(p, q, bytes) == 0;
}

static bool same_gradient(const struct source *s, uint32_t a, uint32_t b)
{
    for (uint32_t part = 0; part < s->parts; part++) {
        uint32_t p = holder(s, a, part);
        uint32_t q = holder(s, b, part);
        if (!same_ledger(s, p, q) ||
            !emu_evidence_same(s->evidence, p, q, s->tensor, EMU_STATE_GRADIENT))
            return false;
    }
    return true;
}

static void fill_value(const struct source *s, uint32_t rank, double *value)
{
    for (uint32_t part = 0; part < s->parts; part++) {
        uint32_t from = holder(s, rank, part);
        uint64_t n = emu_evidence_elements(emu_evidence_tensor(s->evidence, from, s->tensor));
        for (uint64_t e = 0; e < n; e++)
            value[emu_evidence_logical(s->evidence, from, s->tensor, e)] =
                emu_evidence_value(s->evidence, from, s->tensor, EMU_STATE_GRADIENT, e);
    }
}

static enum emu_status add_copy(const struct source *s, uint32_t rank,
                                struct emu_gradient_view *view)
{
    const struct emu_tensor_plan *tensor = &s->evidence->plan->tensors[s->tensor];
    struct emu_gradient_copy *more =
        realloc(view->copies, (view->copy_count + 1) * sizeof *view->copies);
    if (!more)
        return EMU_ENOMEM;
    view->copies = more;
    struct emu_gradient_copy *copy = &more[view->copy_count++];
    *copy = (struct emu_gradient_copy){
        .ranks = calloc(emu_evidence_world(s->evidence), sizeof *copy->ranks),
        .value = calloc(tensor->rows * tensor->columns, sizeof *copy->value)};
    const uint64_t *row = emu_ledger_row(s->evidence, rank, s->tensor);
    size_t bytes = emu_tensor_lanes(s->evidence->plan, s->tensor) * sizeof *row;
    if (row)
        copy->coefficients = malloc(bytes);
    if (!copy->ranks || !copy->value || (row && !copy->coefficients))
        return EMU_ENOMEM;
    if (row)
        memcpy(copy->coefficients, row, bytes);
    fill_value(s, rank, copy->value);
    return EMU_OK;
}

static enum emu_status collect_tensor(const struct source *s, struct emu_gradient_view *view)
{
    for (uint32_t rank = 0; rank < emu_evidence_world(s->evidence); rank++) {
        size_t at = 0;
        if (!emu_evidence_holds(s->evidence, rank, s->tensor))
            continue;
        while (at < view->copy_count && !same_gradient(s, view->copies[at].ranks[0], rank))
            at++;
        if (at == view->copy_count) {
            enum emu_status status = add_copy(s, rank, view);
            if (status != EMU_OK)
                return status;
        }
        view->copies[at].ranks[view->copies[at].rank_count++] = rank;
    }
    return EMU_OK;
}

enum emu_status emu_gradients_collect(const struct emu_evidence *evidence,
                                      struct emu_gradient_view **views)
{
    uint32_t count = evidence->plan->tensor_count;
    struct emu_gradient_view *made = calloc(count, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct source s = {evidence, i,
                           emu_tensor_is_shard(evidence->plan, i) ? evidence->plan->tp : 1};
        enum emu_status status = collect_tensor(&s, &made[i]);
        if (status != EMU_OK) {
            emu_gradients_finish(made, count);
            return status;
        }
    }
    *views = made;
    return EMU_OK;
}

void emu_gradients_finish(struct emu_gradient_view *views, uint32_t tensors)
{
    for (uint32_t i = 0; views && i < tensors; i++) {
        for (size_t c = 0; c < views[i].copy_count; c++) {
            free(views[i].copies[c].ranks);
            free(views[i].copies[c].value);
            free(views[i].copies[c].coefficients);
        }
        free(views[i].copies);
    }
    free(views);
}
