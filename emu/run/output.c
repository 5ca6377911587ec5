#include "run/output.h"

#include "os/stream.h"
#include "os/terminal.h"
#include "os/watch.h"
#include "run/line_tag.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 4096               /* a pipe that polls writable takes this much without blocking */
#define PATIENCE_MS 500          /* with a reader, once the user wants to go */
#define LAST_WORDS (1024 * 1024) /* read of one pipe after its rank is gone */
#define READY 64                 /* pipes looked at between two waits */
#define CONTROL UINT64_MAX       /* the token of the control event */

struct stream {
    int pipe; /* -1: closed */
    bool shown;
    bool to_error;
    bool tagged; /* its line tag is ready */
    size_t last_words;
};

struct emu_output {
    struct emu_output_params params;
    struct stream *streams; /* two a rank: output, error */
    struct emu_line_tag
        *tags;            /* of the streams; pages are touched when a rank writes, not before */
    int watch;            /* of control and of all open pipes; token: place in streams */
    int control;          /* posted when stopping or giving up */
    int done;             /* posted by the thread when it ends */
    atomic_bool stopping; /* ranks are gone */
    atomic_bool give_up;  /* write nothing any more */
    bool broken[2];       /* the reader has gone */
    bool started;
    pthread_t thread;
};

enum emu_status emu_output_create(const struct emu_output_params *params,
                                  struct emu_output **output, struct emu_reason *reason)
{
    size_t streams = 2 * (size_t)params->world;
    struct emu_output *made = calloc(1, sizeof *made);
    if (!made)
        goto no_memory;
    *made = (struct emu_output){.params = *params, .watch = -1, .control = -1, .done = -1};
    made->streams = malloc(streams * sizeof *made->streams);
    made->tags = calloc(streams, sizeof *made->tags);
    for (size_t i = 0; made->streams && i < streams; i++)
        made->streams[i].pipe = -1;
    if (!made->streams || !made->tags)
        goto no_memory;
    made->watch = emu_watch_create();
    made->control = emu_event_create();
    made->done = emu_event_create();
    if (made->watch < 0 || made->control < 0 || made->done < 0 ||
        !emu_watch_add(made->watch, made->control, CONTROL)) {
        emu_reason_set(reason, "cannot watch the ranks' output: %s", strerror(errno));
        emu_output_destroy(made);
        return EMU_ESYSTEM;
    }
    *output = made;
    return EMU_OK;
no_memory:
    emu_reason_set(reason, "out of memory");
    emu_output_destroy(made);
    return EMU_ENOMEM;
}

static bool add_stream(struct emu_output *output, uint32_t rank, int pipe, bool to_error)
{
    size_t place = 2 * (size_t)rank + to_error;
    bool shown = output->params.only < 0 || output->params.only == (int64_t)rank;
    output->streams[place] = (struct stream){.pipe = pipe, .shown = shown, .to_error = to_error};
    return emu_stream_unblock(pipe) && emu_watch_add(output->watch, pipe, place);
}

bool emu_output_add(struct emu_output *output, uint32_t rank, int out_pipe, int error_pipe)
{
    bool out = add_stream(output, rank, out_pipe, false);
    return add_stream(output, rank, error_pipe, true) && out;
}

void emu_output_close_in_child(const struct emu_output *output)
{
    close(output->watch);
    close(output->control);
    close(output->done);
}

/* Wait until the target takes bytes; false: give up. */
static bool may_write(struct emu_output *output, int fd)
{
    while (!atomic_load_explicit(&output->give_up, memory_order_acquire)) {
        struct pollfd both[2] = {{.fd = fd, .events = POLLOUT},
                                 {.fd = output->control, .events = POLLIN}};
        poll(both, 2, -1);
        if (both[1].revents)
            emu_event_take(output->control);
        if (both[0].revents)
            return true;
    }
    return false;
}

static void write_out(struct emu_output *output, const struct emu_text *text, bool to_error)
{
    int fd = to_error ? output->params.error_fd : output->params.out_fd;
    const char *bytes = text->data;
    size_t left = text->size;
    while (left > 0 && !output->broken[to_error] && may_write(output, fd)) {
        ssize_t put = write(fd, bytes, left < PIECE ? left : PIECE);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            output->broken[to_error] = true;
        if (put > 0) {
            bytes += put;
            left -= (size_t)put;
        }
    }
}

static struct emu_line_tag *tag_of(struct emu_output *output, struct stream *stream)
{
    size_t place = (size_t)(stream - output->streams);
    int target = stream->to_error ? output->params.error_fd : output->params.out_fd;
    if (!stream->tagged)
        emu_line_tag_init(&output->tags[place], (uint32_t)(place / 2), emu_terminal_colour(target));
    stream->tagged = true;
    return &output->tags[place];
}

/* One turn of one pipe. false: nothing was there. */
static bool serve(struct emu_output *output, struct stream *stream, bool stopping)
{
    char bytes[EMU_OUTPUT_TURN];
    struct emu_text text = {0};
    ssize_t got = emu_stream_read(stream->pipe, bytes, sizeof bytes);
    if (got == -1 && !stopping)
        return false;
    if (got > 0 && stream->shown)
        emu_line_tag_feed(tag_of(output, stream), bytes, (size_t)got, &text);
    if (got > 0 && stopping)
        stream->last_words += (size_t)got;
    if (got <= 0 || stream->last_words > LAST_WORDS) {
        if (stream->tagged)
            emu_line_tag_end(tag_of(output, stream), &text);
        emu_watch_remove(output->watch, stream->pipe);
        emu_stream_close(&stream->pipe);
    }
    write_out(output, &text, stream->to_error);
    emu_text_finish(&text);
    return got > 0;
}

static void serve_ready(struct emu_output *output)
{
    uint64_t ready[READY];
    int count = emu_watch_wait(output->watch, ready, READY, -1);
    for (int i = 0; i < count; i++)
        if (ready[i] == CONTROL)
            emu_event_take(output->control);
        else if (output->streams[ready[i]].pipe >= 0)
            serve(output, &output->streams[ready[i]], false);
}

/* One turn of all that is open; false: nothing is. */
static bool serve_all(struct emu_output *output)
{
    bool any = false;
    for (size_t i = 0; i < 2 * (size_t)output->params.world; i++) {
        struct stream *stream = &output->streams[i];
        if (stream->pipe >= 0)
            serve(output, stream, true);
        any |= stream->pipe >= 0;
    }
    return any;
}

/* Until the ranks are gone and their pipes empty. */
static void *read_pipes(void *context)
{
    struct emu_output *output = context;
    while (!atomic_load_explicit(&output->stopping, memory_order_acquire))
        serve_ready(output);
    emu_event_take(output->control);
    while (serve_all(output))
        continue;
    emu_event_post(output->done);
    return NULL;
}

enum emu_status emu_output_start(struct emu_output *output, struct emu_reason *reason)
{
    int error = pthread_create(&output->thread, NULL, read_pipes, output);
    if (error != 0)
        return emu_reason_set(reason, "cannot start a thread for the ranks' output: %s",
                              strerror(error));
    output->started = true;
    return EMU_OK;
}

/* Until the thread is done; false: it was not, and the user does not want to wait. */
static bool wait_for_reader(struct emu_output *output, bool hurry,
                            const struct emu_signals *signals)
{
    for (;;) {
        struct pollfd both[2] = {{.fd = output->done, .events = POLLIN},
                                 {.fd = hurry ? -1 : signals->fd, .events = POLLIN}};
        int ready = poll(both, 2, hurry ? PATIENCE_MS : -1);
        if (both[0].revents || ready == 0)
            return ready > 0;
        if (both[1].revents && emu_signals_take(signals).end)
            hurry = true;
    }
}

void emu_output_stop(struct emu_output *output, bool hurry, const struct emu_signals *signals)
{
    if (!output->started)
        return;
    atomic_store_explicit(&output->stopping, true, memory_order_release);
    emu_event_post(output->control);
    if (!wait_for_reader(output, hurry, signals)) {
        atomic_store_explicit(&output->give_up, true, memory_order_release);
        emu_event_post(output->control);
    }
    pthread_join(output->thread, NULL);
    output->started = false;
}

void emu_output_destroy(struct emu_output *output)
{
    if (!output)
        return;
    if (output->started)
        emu_output_stop(output, true, NULL);
    for (size_t i = 0; output->streams && i < 2 * (size_t)output->params.world; i++)
        emu_stream_close(&output->streams[i].pipe);
    emu_stream_close(&output->watch);
    emu_stream_close(&output->control);
    emu_stream_close(&output->done);
    free(output->streams);
    free(output->tags);
    free(output);
}
