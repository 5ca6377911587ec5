#include "run/capture.h"

#include "os/clock.h"

#include <stdlib.h>

enum emu_status emu_capture_init(struct emu_capture *capture, const struct emu_roster *roster)
{
    struct emu_rank_seen *ranks = calloc(roster->mesh->world, sizeof *ranks);
    if (!ranks)
        return EMU_ENOMEM;
    *capture = (struct emu_capture){.ranks = ranks};
    capture->scene.roster = roster;
    capture->scene.ranks = ranks;
    return EMU_OK;
}

static void forget_calls(struct emu_capture *capture)
{
    uint32_t world = capture->ranks ? capture->scene.roster->mesh->world : 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        free((void *)capture->ranks[rank].calls);
        capture->ranks[rank].calls = NULL;
        capture->ranks[rank].call_count = 0;
    }
}

void emu_capture_finish(struct emu_capture *capture)
{
    forget_calls(capture);
    free(capture->ranks);
    *capture = (struct emu_capture){0};
}

void emu_capture_take(struct emu_capture *capture, const struct emu_segment *segment,
                      const struct emu_crew *crew, uint64_t event_ns)
{
    forget_calls(capture);
    for (uint32_t rank = 0; rank < segment->world; rank++) {
        struct emu_rank_seen *seen = &capture->ranks[rank];
        seen->fate = crew->ranks[rank].fate;
        seen->code = crew->ranks[rank].code;
        emu_board_look(segment, rank, &seen->board);
    }
    capture->scene.event_ns = event_ns;
    capture->scene.now_ns = emu_clock_ns();
}

void emu_capture_calls(struct emu_capture *capture, const struct emu_segment *segment,
                       uint32_t rank, uint32_t room)
{
    struct emu_rank_seen *seen = &capture->ranks[rank];
    struct emu_recorded_call *calls = malloc(room * sizeof *calls);
    if (!calls || seen->calls) {
        free(calls);
        return;
    }
    seen->call_count = emu_recorder_read(segment, rank, calls, room);
    seen->calls = calls;
}
