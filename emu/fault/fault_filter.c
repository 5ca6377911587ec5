#include "fault/fault_filter.h"

#include "comm/handle.h"
#include "fault/bit_flip.h"
#include "fault/call_rewrite.h"
#include "fault/call_scratch.h"
#include "fault/fault_address.h"
#include "fault/fault_process.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY SIZE_MAX

/* A call that a fault has touched; others pass through with the request of the layer below. */
struct touched {
    struct emu_request base; /* the call as its caller asked for it */
    struct touched *next;
    struct emu_request *below; /* NULL: nothing was started */
    struct emu_request *late;  /* swap_calls: the call held back before, started after `below` */
    struct emu_call_scratch scratch;
    struct emu_call_scratch late_scratch;
    size_t flips; /* flip_result: index of the fault; else NOBODY */
};

struct filter {
    struct emu_layer layer;
    const struct emu_fault_set *set;
    bool done[EMU_FAULTS_MAX]; /* has acted on this rank */
    struct emu_fault_place place;
    struct touched *open;
    bool holds; /* swap_calls: a call waits for the next one */
    struct emu_call_scratch held;
    /* The collective in which a fault acts at a phase, and that fault; NOBODY: none. */
    size_t armed;
    struct emu_call armed_call;
};

static struct filter *filter_of(struct emu_layer *layer)
{
    return (struct filter *)layer;
}

static const struct emu_fault *fault_of(const struct filter *filter, size_t i)
{
    return &filter->set->faults[i];
}

static void fire(struct filter *filter, size_t i)
{
    filter->done[i] = true;
    emu_fault_set_fire(filter->set, i, emu_rank_id(filter->layer.rank));
}

static void take_step(struct filter *filter)
{
    const struct emu_segment *segment = emu_rank_segment(filter->layer.rank);
    struct emu_board_view board = {0};
    if (segment)
        emu_board_look(segment, emu_rank_id(filter->layer.rank), &board);
    if (board.step != filter->place.step)
        filter->place.in_step = 0;
    filter->place.step = board.step;
}

/* Does fault i mean this call, and has it not acted yet? */
static bool strikes(const struct filter *filter, size_t i, const struct emu_call *call)
{
    return !filter->done[i] &&
           emu_fault_means_call(fault_of(filter, i), filter->layer.rank, &filter->place, call) &&
           emu_fault_suits_call(fault_of(filter, i), filter->layer.rank, call);
}

static void arm(struct filter *filter, size_t i, const struct emu_call *call)
{
    filter->armed = i;
    filter->armed_call = *call;
}

/* The backend keeps its own copy of a call: what tells it from the other open ones. */
static bool is_armed_call(const struct filter *filter, const struct emu_call *call)
{
    const struct emu_call *armed = &filter->armed_call;
    return armed->kind == call->kind && armed->group == call->group &&
           armed->count == call->count && armed->output == call->output &&
           armed->file == call->file && armed->line == call->line;
}

static void flip_deposit(struct filter *filter, const struct emu_call *call,
                         const struct emu_deposit *deposit)
{
    const struct emu_fault *fault = fault_of(filter, filter->armed);
    uint64_t element = emu_dtype_bytes(call->dtype);
    struct emu_elements elements = {deposit->bytes, deposit->first / element,
                                    deposit->size / element, call->dtype};
    if (!deposit->bytes || !emu_flip_hits(fault, &elements))
        return;
    fire(filter, filter->armed);
    filter->armed = NOBODY;
    emu_flip_apply(fault, &elements);
}

static void entered(void *user, enum emu_phase phase, const struct emu_call *call,
                    const struct emu_deposit *deposit)
{
    struct filter *filter = user;
    if (filter->armed == NOBODY || !is_armed_call(filter, call))
        return;
    const struct emu_fault *fault = fault_of(filter, filter->armed);
    if (fault->kind == EMU_FAULT_FLIP_DEPOSIT) {
        if (phase == EMU_PHASE_DEPOSIT)
            flip_deposit(filter, call, deposit);
        return;
    }
    if (fault->value[EMU_KEY_PHASE].number != phase)
        return;
    fire(filter, filter->armed);
    filter->armed = NOBODY;
    emu_fault_process_act(fault);
}

/* Faults that act by process: at once, or at a phase of this call. */
static void act_on_process(struct filter *filter, const struct emu_call *call)
{
    for (size_t i = 0; i < filter->set->count; i++) {
        const struct emu_fault *fault = fault_of(filter, i);
        if (emu_fault_row(fault->kind)->means != EMU_FAULT_BY_PROCESS || !strikes(filter, i, call))
            continue;
        if (emu_fault_number(fault, EMU_KEY_PHASE, EMU_PHASE_BEFORE) != EMU_PHASE_BEFORE) {
            arm(filter, i, call);
            continue;
        }
        fire(filter, i);
        emu_fault_process_act(fault);
    }
}

/* The one fault that changes this call or its bytes. */
static size_t find_change(const struct filter *filter, const struct emu_call *call)
{
    for (size_t i = 0; i < filter->set->count; i++) {
        enum emu_fault_means means = emu_fault_row(fault_of(filter, i)->kind)->means;
        if ((means == EMU_FAULT_BY_CALL || means == EMU_FAULT_BY_PAYLOAD) &&
            strikes(filter, i, call))
            return i;
    }
    return NOBODY;
}

static struct touched *touch(struct filter *filter, const struct emu_call *call)
{
    struct touched *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->base.call = *call;
    made->flips = NOBODY;
    made->next = filter->open;
    filter->open = made;
    return made;
}

static void drop(struct filter *filter, struct touched *touched)
{
    struct touched **link = &filter->open;
    while (*link != touched)
        link = &(*link)->next;
    *link = touched->next;
    emu_call_scratch_finish(&touched->scratch);
    emu_call_scratch_finish(&touched->late_scratch);
    free(touched);
}

static enum emu_status start_below(struct filter *filter, const struct emu_call *call,
                                   struct emu_request **request)
{
    struct emu_layer *below = filter->layer.below;
    return below->ops.start(below, call, request);
}

static enum emu_status wait_below(struct filter *filter, struct emu_request *request)
{
    struct emu_layer *below = filter->layer.below;
    return below->ops.wait(below, request);
}

/* The call with the buffers of a copy. */
static enum emu_status start_rewritten(struct filter *filter, const struct emu_fault *fault,
                                       const struct emu_call *call, struct touched *touched)
{
    struct emu_call made = *call;
    emu_call_rewrite(fault, filter->layer.rank, call, &made);
    enum emu_status status =
        emu_call_scratch_init(&touched->scratch, filter->layer.rank, call, &made);
    return status ? status : start_below(filter, &touched->scratch.made, &touched->below);
}

static enum emu_status start_twice(struct filter *filter, const struct emu_call *call,
                                   struct touched *touched)
{
    struct emu_request *first;
    enum emu_status status = start_below(filter, call, &first);
    if (status == EMU_OK)
        status = wait_below(filter, first);
    return status ? status : start_below(filter, call, &touched->below);
}

/* Its caller's buffers may be gone when the call is made: it works on copies, to no effect. */
static enum emu_status hold(struct filter *filter, const struct emu_call *call)
{
    if (filter->holds)
        return EMU_OK; /* two swaps in a row: the second call is left out */
    enum emu_status status = emu_call_scratch_init(&filter->held, filter->layer.rank, call, call);
    filter->holds = status == EMU_OK;
    return status;
}

static void flip_input(const struct emu_fault *fault, const struct emu_rank *rank,
                       const struct emu_call *call)
{
    /* The caller's memory goes bad: that it handed it over as const is no protection. */
    struct emu_elements elements = {(unsigned char *)(uintptr_t)call->input, 0,
                                    emu_call_input_elements(rank, call), call->dtype};
    emu_flip_apply(fault, &elements);
}

static enum emu_status start_changed(struct filter *filter, size_t i, const struct emu_call *call,
                                     struct touched *touched)
{
    const struct emu_fault *fault = fault_of(filter, i);
    if (fault->kind == EMU_FAULT_FLIP_DEPOSIT)
        arm(filter, i, call);
    else if (fault->kind != EMU_FAULT_FLIP_RESULT)
        fire(filter, i);
    switch (fault->kind) {
    case EMU_FAULT_SKIP_CALL:
        return EMU_OK;
    case EMU_FAULT_REPEAT_CALL:
        return start_twice(filter, call, touched);
    case EMU_FAULT_SWAP_CALLS:
        return hold(filter, call);
    case EMU_FAULT_FLIP_INPUT:
    case EMU_FAULT_NAN:
        flip_input(fault, filter->layer.rank, call);
        return start_below(filter, call, &touched->below);
    case EMU_FAULT_FLIP_DEPOSIT:
        return start_below(filter, call, &touched->below);
    case EMU_FAULT_FLIP_RESULT:
        touched->flips = i;
        return start_below(filter, call, &touched->below);
    default:
        return start_rewritten(filter, fault, call, touched);
    }
}

/* The call that was held back, right after this one. */
static enum emu_status start_held(struct filter *filter, struct touched *touched)
{
    touched->late_scratch = filter->held;
    filter->held = (struct emu_call_scratch){0};
    filter->holds = false;
    return start_below(filter, &touched->late_scratch.made, &touched->late);
}

static enum emu_status start_touched(struct filter *filter, size_t change,
                                     const struct emu_call *call, struct emu_request **request)
{
    bool late = filter->holds;
    struct touched *touched = touch(filter, call);
    if (!touched)
        return EMU_ENOMEM;
    enum emu_status status = change == NOBODY ? start_below(filter, call, &touched->below)
                                              : start_changed(filter, change, call, touched);
    if (status == EMU_OK && late && start_held(filter, touched) != EMU_OK)
        touched->late = NULL; /* the refusal is on record; this call goes on */
    if (status != EMU_OK) {
        drop(filter, touched);
        return status;
    }
    *request = &touched->base;
    return EMU_OK;
}

static enum emu_status filter_start(struct emu_layer *layer, const struct emu_call *call,
                                    struct emu_request **request)
{
    struct filter *filter = filter_of(layer);
    take_step(filter);
    act_on_process(filter, call);
    size_t change = find_change(filter, call);
    filter->place.in_step++;
    filter->place.in_run++;
    if (change == NOBODY && !filter->holds)
        return start_below(filter, call, request);
    return start_touched(filter, change, call, request);
}

static void flip_result(struct filter *filter, const struct touched *touched)
{
    const struct emu_call *call = &touched->base.call;
    struct emu_elements elements = {
        call->output, 0, emu_call_output_elements(filter->layer.rank, call), call->dtype};
    fire(filter, touched->flips);
    emu_flip_apply(fault_of(filter, touched->flips), &elements);
}

static enum emu_status finish(struct filter *filter, struct touched *touched)
{
    enum emu_status status = touched->below ? wait_below(filter, touched->below) : EMU_OK;
    enum emu_status late = touched->late ? wait_below(filter, touched->late) : EMU_OK;
    if (status == EMU_OK && touched->scratch.output)
        emu_call_scratch_return(&touched->scratch);
    if (status == EMU_OK && touched->flips != NOBODY)
        flip_result(filter, touched);
    drop(filter, touched);
    return status ? status : late;
}

static enum emu_status filter_wait(struct emu_layer *layer, struct emu_request *request)
{
    struct filter *filter = filter_of(layer);
    for (struct touched *touched = filter->open; touched; touched = touched->next)
        if (&touched->base == request)
            return finish(filter, touched);
    return wait_below(filter, request);
}

/* Requests that were never waited for are dropped by the backend. */
static void filter_destroy(struct emu_layer *layer)
{
    struct filter *filter = filter_of(layer);
    while (filter->open)
        drop(filter, filter->open);
    emu_call_scratch_finish(&filter->held);
    free(filter);
}

static const struct emu_layer_ops filter_ops = {"faults", filter_start, filter_wait,
                                                filter_destroy};

static bool needed(const struct emu_fault_set *set, uint32_t rank)
{
    for (size_t i = 0; i < set->count; i++)
        if (emu_fault_row(set->faults[i].kind)->means <= EMU_FAULT_BY_PAYLOAD &&
            set->faults[i].value[EMU_KEY_RANK].number == rank)
            return true;
    return false;
}

enum emu_status emu_fault_filter_push(struct emu_rank *rank, const struct emu_fault_set *set)
{
    if (!needed(set, emu_rank_id(rank)))
        return EMU_OK;
    struct filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return EMU_ENOMEM;
    filter->layer = (struct emu_layer){.ops = filter_ops, .rank = rank};
    filter->set = set;
    filter->armed = NOBODY;
    emu_rank_push(rank, &filter->layer);
    emu_rank_watch_phases(rank, (struct emu_phase_watch){entered, filter});
    return EMU_OK;
}
