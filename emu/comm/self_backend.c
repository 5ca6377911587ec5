/* Backend `self`: a world of one rank without a segment. Collectives are copies; a message to
 * oneself waits in a list on the heap until it is received. Nothing ever blocks: what nobody can
 * complete any more (a receive without a message; a strict send without a receive, and it is the
 * only rank that could post one) answers EMU_EPEER. */
#include "comm/arguments.h"
#include "comm/handle.h"
#include "comm/local.h"

#include <stdlib.h>
#include <string.h>

struct letter {
    struct letter *next;
    int32_t tag;
    enum emu_dtype dtype;
    uint64_t count;
    struct self_request *sender; /* strict: tell it; NULL otherwise */
    unsigned char bytes[];
};

struct self_request {
    struct emu_request base;
    struct self_request *next; /* open requests, in start order */
    enum emu_status status;
    bool done;
};

struct self_backend {
    struct emu_layer layer;
    struct letter *letters;    /* oldest first */
    struct self_request *open; /* started, not waited for */
};

static enum emu_status hand_over(const struct letter *letter, struct self_request *receive)
{
    const struct emu_call *call = &receive->base.call;
    if (letter->dtype != call->dtype || letter->count > call->count)
        return EMU_EMISMATCH;
    receive->base.received = letter->count;
    if (letter->count > 0)
        memcpy(call->output, letter->bytes, letter->count * emu_dtype_bytes(letter->dtype));
    return EMU_OK;
}

static void receive_letter(struct self_backend *self, struct self_request *receive)
{
    struct letter **at = &self->letters;
    while (*at && (*at)->tag != receive->base.call.tag)
        at = &(*at)->next;
    struct letter *letter = *at;
    if (!letter)
        return;
    *at = letter->next;
    receive->status = hand_over(letter, receive);
    receive->done = true;
    if (letter->sender) {
        letter->sender->status = receive->status;
        letter->sender->done = true;
    }
    free(letter);
}

/* Give the first letter of its tag to each waiting receive, the oldest receive first. */
static void match(struct self_backend *self)
{
    for (struct self_request *request = self->open; request; request = request->next)
        if (request->base.call.kind == EMU_RECV && !request->done)
            receive_letter(self, request);
}

static enum emu_status post_letter(struct self_backend *self, struct self_request *send)
{
    const struct emu_call *call = &send->base.call;
    uint64_t bytes = call->count * emu_dtype_bytes(call->dtype);
    struct letter *letter = malloc(sizeof *letter + bytes);
    if (!letter)
        return EMU_ENOMEM;
    *letter = (struct letter){.tag = call->tag, .dtype = call->dtype, .count = call->count};
    if (bytes > 0)
        memcpy(letter->bytes, call->input, bytes);
    letter->sender = self->layer.rank->strict ? send : NULL;
    send->done = !self->layer.rank->strict;
    struct letter **at = &self->letters;
    while (*at)
        at = &(*at)->next;
    *at = letter;
    return EMU_OK;
}

static enum emu_status begin(struct self_backend *self, struct self_request *request)
{
    if (request->base.call.kind == EMU_SEND)
        return post_letter(self, request);
    if (request->base.call.kind != EMU_RECV) {
        emu_local_collective(&request->base.call);
        request->done = true;
    }
    return EMU_OK;
}

static struct self_request **end_of(struct self_backend *self)
{
    struct self_request **at = &self->open;
    while (*at)
        at = &(*at)->next;
    return at;
}

static enum emu_status self_start(struct emu_layer *layer, const struct emu_call *call,
                                  struct emu_request **request)
{
    struct emu_refusal refusal;
    enum emu_status status = emu_call_check(layer->rank->roster, layer->rank->id, call, &refusal);
    if (status)
        return status;
    struct self_request *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->base.call = *call;
    struct self_backend *self = (struct self_backend *)layer;
    status = begin(self, made);
    if (status) {
        free(made);
        return status;
    }
    *end_of(self) = made;
    match(self);
    *request = &made->base;
    return EMU_OK;
}

static void forget(struct self_backend *self, const struct self_request *request)
{
    for (struct self_request **at = &self->open; *at; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            break;
        }
    for (struct letter *letter = self->letters; letter; letter = letter->next)
        if (letter->sender == request)
            letter->sender = NULL;
}

static enum emu_status self_wait(struct emu_layer *layer, struct emu_request *request)
{
    struct self_request *mine = (struct self_request *)request;
    forget((struct self_backend *)layer, mine);
    enum emu_status status = mine->done ? mine->status : EMU_EPEER;
    if (request->call.kind == EMU_RECV && !status)
        layer->rank->received = request->received;
    free(mine);
    return status;
}

static void self_destroy(struct emu_layer *layer)
{
    struct self_backend *self = (struct self_backend *)layer;
    while (self->letters) {
        struct letter *next = self->letters->next;
        free(self->letters);
        self->letters = next;
    }
    while (self->open) {
        struct self_request *next = self->open->next;
        free(self->open);
        self->open = next;
    }
    free(self);
}

static const struct emu_layer_ops self_ops = {"self", self_start, self_wait, self_destroy};

struct emu_layer *emu_self_backend_create(struct emu_rank *rank)
{
    struct self_backend *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->layer = (struct emu_layer){.ops = self_ops, .rank = rank};
    return &self->layer;
}
