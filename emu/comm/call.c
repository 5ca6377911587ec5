/* The calls of include/meshemu/comm.h: into the top of the stack, and out again. */
#include "base/hot.h"
#include "comm/arguments.h"
#include "comm/handle.h"
#include "seg/board_words.h"

static EMU_HOT enum emu_status start(struct emu_rank *rank, const struct emu_call *call,
                                     struct emu_request **request)
{
    enum emu_lap before = emu_handle_enter(rank, EMU_LAP_CALL);
    enum emu_status status = rank->top->ops.start(rank->top, call, request);
    if (!status)
        rank->open_requests++;
    emu_handle_enter(rank, before);
    return status;
}

EMU_HOT enum emu_status emu_start(struct emu_rank *rank, const struct emu_call *call,
                                  struct emu_request **request)
{
    enum emu_status status = start(rank, call, request);
    if (rank->segment) /* until the wait the rank is in its own code */
        emu_board_set_phase(rank->segment, rank->id, EMU_PHASE_NONE);
    return status;
}

/* The backend leaves the count of a recv in rank->received. */
EMU_HOT enum emu_status emu_wait(struct emu_rank *rank, struct emu_request *request)
{
    if (!request)
        return EMU_EINVAL;
    rank->open_requests--;
    enum emu_lap before = emu_handle_enter(rank, EMU_LAP_CALL);
    enum emu_status status = rank->top->ops.wait(rank->top, request);
    emu_handle_enter(rank, before);
    return status;
}

EMU_HOT enum emu_status emu_run_call(struct emu_rank *rank, const struct emu_call *call)
{
    struct emu_request *request;
    enum emu_status status = start(rank, call, &request);
    return status ? status : emu_wait(rank, request);
}

EMU_HOT enum emu_status emu_run_at(struct emu_rank *rank, enum emu_kind kind, uint32_t group,
                                   const void *input, void *output, uint64_t count,
                                   enum emu_dtype dtype, enum emu_op op, uint32_t root,
                                   const char *file, uint32_t line)
{
    struct emu_call call = {
        .kind = kind,
        .group = group,
        .count = count,
        .dtype = dtype,
        .op = op,
        .root = root,
        .input = input,
        .output = output,
        .file = file,
        .line = line,
    };
    return emu_run_call(rank, &call);
}

enum emu_status emu_message_at(struct emu_rank *rank, enum emu_kind kind, uint32_t peer,
                               const void *input, void *output, uint64_t count,
                               enum emu_dtype dtype, int32_t tag, const char *file, uint32_t line)
{
    struct emu_call call = {
        .kind = kind,
        .count = count,
        .dtype = dtype,
        .peer = peer,
        .tag = tag,
        .input = input,
        .output = output,
        .file = file,
        .line = line,
    };
    return emu_run_call(rank, &call);
}

enum emu_status emu_sendrecv(struct emu_rank *rank, uint32_t to, const void *input,
                             uint64_t input_count, uint32_t from, void *output,
                             uint64_t output_count, enum emu_dtype dtype, int32_t tag)
{
    struct emu_call send = {.kind = EMU_SEND,
                            .count = input_count,
                            .dtype = dtype,
                            .peer = to,
                            .tag = tag,
                            .input = input};
    struct emu_call recv = {.kind = EMU_RECV,
                            .count = output_count,
                            .dtype = dtype,
                            .peer = from,
                            .tag = tag,
                            .output = output};
    struct emu_request *sending, *receiving;
    struct emu_refusal refusal;
    /* A refused receive must not leave a send behind: let the backend refuse it alone. */
    if (emu_call_check(rank->roster, rank->id, &recv, &refusal))
        return emu_run_call(rank, &recv);
    enum emu_status status = emu_start(rank, &send, &sending);
    if (status)
        return status;
    enum emu_status received = emu_start(rank, &recv, &receiving);
    if (!received)
        received = emu_wait(rank, receiving);
    status = emu_wait(rank, sending);
    return received ? received : status;
}
