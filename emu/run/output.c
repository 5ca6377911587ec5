#include "run/output.h"

#include "os/stream.h"
#include "os/terminal.h"
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

struct stream {
    int pipe; /* -1: closed */
    bool shown;
    bool to_error;
    size_t last_words;
    struct emu_line_tag tag;
};

struct emu_output {
    struct emu_output_params params;
    struct stream *streams; /* two a rank: output, error */
    struct pollfd *polled;  /* control, then one per open stream */
    size_t *polled_stream;  /* place in streams of polled[1 + i] */
    int control;            /* posted when stopping or giving up */
    int done;               /* posted by the thread when it ends */
    atomic_bool stopping;   /* ranks are gone */
    atomic_bool give_up;    /* write nothing any more */
    bool broken[2];         /* the reader has gone */
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
    *made = (struct emu_output){.params = *params, .control = -1, .done = -1};
    made->streams = malloc(streams * sizeof *made->streams);
    made->polled = malloc((streams + 1) * sizeof *made->polled);
    made->polled_stream = malloc(streams * sizeof *made->polled_stream);
    for (size_t i = 0; made->streams && i < streams; i++)
        made->streams[i].pipe = -1;
    if (!made->streams || !made->polled || !made->polled_stream)
        goto no_memory;
    made->control = emu_event_create();
    made->done = emu_event_create();
    if (made->control < 0 || made->done < 0) {
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

static void add_stream(struct emu_output *output, uint32_t rank, int pipe, bool to_error)
{
    struct stream *stream = &output->streams[2 * (size_t)rank + to_error];
    int target = to_error ? output->params.error_fd : output->params.out_fd;
    stream->pipe = pipe;
    stream->to_error = to_error;
    stream->shown = output->params.only < 0 || output->params.only == (int64_t)rank;
    stream->last_words = 0;
    emu_stream_unblock(pipe);
    emu_line_tag_init(&stream->tag, rank, emu_terminal_colour(target));
}

void emu_output_add(struct emu_output *output, uint32_t rank, int out_pipe, int error_pipe)
{
    add_stream(output, rank, out_pipe, false);
    add_stream(output, rank, error_pipe, true);
}

void emu_output_close_in_child(const struct emu_output *output)
{
    for (size_t i = 0; i < 2 * (size_t)output->params.world; i++)
        if (output->streams[i].pipe >= 0)
            close(output->streams[i].pipe);
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

/* One turn of one pipe. false: nothing was there. */
static bool serve(struct emu_output *output, struct stream *stream, bool stopping)
{
    char bytes[EMU_OUTPUT_TURN];
    struct emu_text text = {0};
    ssize_t got = emu_stream_read(stream->pipe, bytes, sizeof bytes);
    if (got == -1 && !stopping)
        return false;
    if (got > 0 && stream->shown)
        emu_line_tag_feed(&stream->tag, bytes, (size_t)got, &text);
    if (got > 0 && stopping)
        stream->last_words += (size_t)got;
    if (got <= 0 || stream->last_words > LAST_WORDS) {
        emu_line_tag_end(&stream->tag, &text);
        emu_stream_close(&stream->pipe);
    }
    write_out(output, &text, stream->to_error);
    emu_text_finish(&text);
    return got > 0;
}

static nfds_t list_streams(struct emu_output *output)
{
    nfds_t count = 1;
    output->polled[0] = (struct pollfd){.fd = output->control, .events = POLLIN};
    for (size_t i = 0; i < 2 * (size_t)output->params.world; i++) {
        if (output->streams[i].pipe < 0)
            continue;
        output->polled_stream[count - 1] = i;
        output->polled[count++] = (struct pollfd){.fd = output->streams[i].pipe, .events = POLLIN};
    }
    return count;
}

/* Until the ranks are gone and their pipes empty. */
static void *read_pipes(void *context)
{
    struct emu_output *output = context;
    for (;;) {
        bool stopping = atomic_load_explicit(&output->stopping, memory_order_acquire);
        nfds_t count = list_streams(output);
        if (stopping && count == 1)
            break;
        poll(output->polled, count, stopping ? 0 : -1);
        if (output->polled[0].revents)
            emu_event_take(output->control);
        for (nfds_t i = 1; i < count; i++)
            if (output->polled[i].revents || stopping)
                serve(output, &output->streams[output->polled_stream[i - 1]], stopping);
    }
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
    emu_stream_close(&output->control);
    emu_stream_close(&output->done);
    free(output->streams);
    free(output->polled);
    free(output->polled_stream);
    free(output);
}
