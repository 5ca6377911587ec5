#include "run/halt_filter.h"

#include "nn/halt.h"

#include <stdlib.h>

static enum emu_status halt_start(struct emu_layer *layer, const struct emu_call *call,
                                  struct emu_request **request)
{
    if (emu_halt_asked())
        return EMU_EABORTED;
    return layer->below->ops.start(layer->below, call, request);
}

static enum emu_status halt_wait(struct emu_layer *layer, struct emu_request *request)
{
    return layer->below->ops.wait(layer->below, request);
}

static void halt_destroy(struct emu_layer *layer)
{
    free(layer);
}

static const struct emu_layer_ops halt_ops = {"halt", halt_start, halt_wait, halt_destroy};

enum emu_status emu_halt_filter_push(struct emu_rank *rank)
{
    struct emu_layer *layer = calloc(1, sizeof *layer);
    if (!layer)
        return EMU_ENOMEM;
    layer->ops = halt_ops;
    emu_rank_push(rank, layer);
    return EMU_OK;
}
