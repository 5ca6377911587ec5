/* Which threads of the launcher run beside the supervisor?
 *
 * One sleeps on the segment's news word and turns news into a readable descriptor, so that the
 * supervisor waits for everything in one poll. The other is the job's auditor, if it has one. Both
 * are started after the last fork and end when every rank is known to be gone.
 */
#ifndef EMU_RUN_COMPANIONS_H
#define EMU_RUN_COMPANIONS_H

#include "os/reason.h"
#include "run/job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct emu_companions {
    const struct emu_job *job;
    const struct emu_segment *segment;
    int news; /* readable when there is news */
    uint32_t seen;
    atomic_bool stopping;
    bool watching, auditing; /* the thread runs */
    pthread_t watcher, auditor;
};

EMU_MUST_CHECK enum emu_status emu_companions_start(struct emu_companions *companions,
                                                    const struct emu_job *job,
                                                    const struct emu_segment *segment,
                                                    struct emu_reason *reason);

/* Every rank has been failed in the segment, or the run aborted. Accepts a zeroed one. */
void emu_companions_join(struct emu_companions *companions);

#endif
