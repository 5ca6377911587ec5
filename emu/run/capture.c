#include "run/capture.h"

#include "os/clock.h"
#include "seg/board_words.h"
#include "seg/outbox.h"

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

static void forget_calls_of(struct emu_rank_seen *seen)
{
    free((void *)seen->calls);
    seen->calls = NULL;
    seen->call_count = 0;
}

static void forget_calls(struct emu_capture *capture)
{
    uint32_t world = capture->ranks ? capture->scene.roster->mesh->world : 0;
    for (uint32_t rank = 0; rank < world; rank++)
        forget_calls_of(&capture->ranks[rank]);
}

static void forget_posted(struct emu_capture *capture)
{
    free(capture->posted);
    capture->posted = NULL;
    capture->scene.posted = NULL;
    capture->scene.posted_count = 0;
}

void emu_capture_finish(struct emu_capture *capture)
{
    forget_calls(capture);
    forget_posted(capture);
    free(capture->ranks);
    *capture = (struct emu_capture){0};
}

static void look_at(struct emu_capture *capture, const struct emu_segment *segment,
                    const struct emu_crew *crew, uint32_t rank)
{
    struct emu_rank_seen *seen = &capture->ranks[rank];
    seen->fate = crew->ranks[rank].fate;
    seen->code = crew->ranks[rank].code;
    emu_board_look(segment, rank, &seen->board);
}

void emu_capture_take(struct emu_capture *capture, const struct emu_segment *segment,
                      const struct emu_crew *crew, uint64_t event_ns)
{
    forget_calls(capture);
    forget_posted(capture);
    for (uint32_t rank = 0; rank < segment->world; rank++)
        look_at(capture, segment, crew, rank);
    capture->scene.event_ns = event_ns;
    capture->scene.now_ns = emu_clock_ns();
}

void emu_capture_rank(struct emu_capture *capture, const struct emu_segment *segment,
                      const struct emu_crew *crew, uint32_t rank, uint64_t event_ns)
{
    forget_calls_of(&capture->ranks[rank]);
    look_at(capture, segment, crew, rank);
    capture->scene.event_ns = event_ns;
    capture->scene.now_ns = emu_clock_ns();
}

void emu_capture_calls(struct emu_capture *capture, const struct emu_segment *segment,
                       uint32_t rank, uint32_t room)
{
    struct emu_rank_seen *seen = &capture->ranks[rank];
    uint64_t begun =
        atomic_load_explicit(&emu_board_of(segment, rank)->calls, memory_order_acquire);
    room = begun < room ? (uint32_t)begun : room;
    struct emu_recorded_call *calls = room ? malloc(room * sizeof *calls) : NULL;
    if (!calls || seen->calls) {
        free(calls);
        return;
    }
    seen->call_count = emu_recorder_read(segment, rank, calls, room);
    seen->calls = calls;
}

static bool add_posted(struct emu_capture *capture, uint32_t from,
                       const struct emu_message_view *message)
{
    size_t count = capture->scene.posted_count;
    if ((count & (count - 1)) == 0) { /* room doubles at every power of two */
        size_t room = count ? 2 * count : 1;
        struct emu_posted *longer = realloc(capture->posted, room * sizeof *longer);
        if (!longer)
            return false;
        capture->posted = longer;
        capture->scene.posted = longer;
    }
    capture->posted[count] =
        (struct emu_posted){from, message->to, message->sequence, message->call};
    capture->scene.posted_count = count + 1;
    return true;
}

void emu_capture_posted(struct emu_capture *capture, const struct emu_segment *segment)
{
    forget_posted(capture);
    for (uint32_t rank = 0; rank < segment->world; rank++) {
        struct emu_outbox box = emu_outbox_of(segment, rank);
        uint32_t used = atomic_load_explicit(&box.head->used, memory_order_acquire);
        for (uint32_t i = 0; i < used && i < box.message_count; i++) {
            struct emu_message_view message;
            if (emu_outbox_read(segment, rank, i, &message) && message.to < segment->world &&
                !add_posted(capture, rank, &message))
                return;
        }
    }
}
