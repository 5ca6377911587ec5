#include "run/companions.h"

#include "os/stream.h"

#include <errno.h>
#include <string.h>

static void *watch_news(void *context)
{
    struct emu_companions *companions = context;
    while (!atomic_load_explicit(&companions->stopping, memory_order_acquire)) {
        companions->seen = emu_news_wait(companions->segment, companions->seen, -1);
        emu_event_post(companions->news);
    }
    return NULL;
}

static void *run_auditor(void *context)
{
    struct emu_companions *companions = context;
    companions->job->auditor(companions->segment, companions->job->user);
    return NULL;
}

static enum emu_status refused(struct emu_companions *companions, int error,
                               struct emu_reason *reason)
{
    emu_abort_post(companions->segment, 1);
    emu_companions_join(companions);
    return emu_reason_set(
        reason,
        "cannot start a thread beside the ranks: %s; raise the limits on processes (ulimit -u) and "
        "address space (ulimit -v), or of the pids cgroup",
        strerror(error));
}

enum emu_status emu_companions_start(struct emu_companions *companions, const struct emu_job *job,
                                     const struct emu_segment *segment, struct emu_reason *reason)
{
    *companions = (struct emu_companions){.job = job, .segment = segment};
    companions->seen = emu_news_look(segment);
    companions->news = emu_event_create();
    if (companions->news < 0) {
        *companions = (struct emu_companions){0};
        return emu_reason_set(reason, "cannot watch the segment: %s", strerror(errno));
    }
    int error = pthread_create(&companions->watcher, NULL, watch_news, companions);
    if (error != 0)
        return refused(companions, error, reason);
    companions->watching = true;
    if (!job->auditor)
        return EMU_OK;
    error = pthread_create(&companions->auditor, NULL, run_auditor, companions);
    if (error != 0)
        return refused(companions, error, reason);
    companions->auditing = true;
    return EMU_OK;
}

void emu_companions_join(struct emu_companions *companions)
{
    if (!companions->segment)
        return;
    if (companions->auditing)
        pthread_join(companions->auditor, NULL);
    atomic_store_explicit(&companions->stopping, true, memory_order_release);
    emu_news_post(companions->segment);
    if (companions->watching)
        pthread_join(companions->watcher, NULL);
    emu_stream_close(&companions->news);
    *companions = (struct emu_companions){0};
}
