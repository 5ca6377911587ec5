/* What does a rank that goes to sleep still have to do for others? See seg/rest.h for who asks. */
#include "comm/shm.h"

static bool is_new(const struct shm_request *request)
{
    if (shm_is_message(request))
        return request->message.stage == SHM_MESSAGE_NEW;
    return request->collective.rounds_given == 0;
}

static struct emu_want want_of(const struct shm_request *request)
{
    const struct emu_call *call = &request->base.call;
    struct emu_want want = {.count = 1, .index = request->note.index};
    if (!shm_is_message(request)) {
        want.what = EMU_WANT_CALLS;
        want.with = call->group;
        return want;
    }
    want.what = call->kind == EMU_SEND ? EMU_WANT_SENDS : EMU_WANT_RECVS;
    want.with = call->peer;
    want.tag = call->tag;
    return want;
}

static uint32_t receives_ahead(const struct shm_request *waited)
{
    const struct emu_call *call = &waited->base.call;
    uint32_t ahead = 0;
    for (const struct shm_request *earlier = waited->previous; earlier; earlier = earlier->previous)
        ahead += earlier->base.call.kind == EMU_RECV && !earlier->done && is_new(earlier) &&
                 earlier->base.call.peer == call->peer && earlier->base.call.tag == call->tag;
    return ahead;
}

void shm_publish_wants(const struct shm_backend *backend, const struct shm_request *waited,
                       struct emu_rest *rest)
{
    struct emu_wants wants = {.count = 0};
    for (const struct shm_request *open = backend->first; open; open = open->next) {
        struct emu_want want = want_of(open);
        if (!open->done && is_new(open))
            emu_wants_add(&wants, &want);
    }
    if (shm_is_message(waited)) {
        wants.stage = is_new(waited) ? EMU_STAGE_NEW : EMU_STAGE_POSTED;
        wants.sequence = waited->message.sequence;
    }
    if (waited->base.call.kind == EMU_RECV)
        wants.ahead = receives_ahead(waited);
    emu_rest_publish(backend->segment, backend->id, rest, &wants);
}
