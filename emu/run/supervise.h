/* What does the launcher do between the birth of the ranks and the death of the last one?
 *
 * One wait is for signals, for news from the segment, for each rank's pidfd and for the deadline.
 * What is seen is told to the inquest in the order in which it happened, to the segment
 * (emu_segment_lose_rank) so that nobody waits for a rank that is gone, and ends the run where that
 * is due: ranks get EMU_GRACE_NS to return by themselves with EMU_EABORTED, then they are killed.
 *
 * Cost, for thousands of ranks: an event costs what it is about. Only a finding looks at all ranks,
 * once; and of many ends that are seen together the living are told once.
 */
#ifndef EMU_RUN_SUPERVISE_H
#define EMU_RUN_SUPERVISE_H

#include "check/inquest.h"
#include "os/signals.h"
#include "run/capture.h"
#include "run/crew.h"
#include "run/detector.h"
#include "run/job.h"

#define EMU_GRACE_NS UINT64_C(30000000)

/* Why a run was ended: the word that emu_abort_look tells. */
enum emu_end_cause {
    EMU_END_FAILURE = 1, /* a rank failed */
    EMU_END_TIMEOUT,     /* --timeout */
    EMU_END_PERSON,      /* Ctrl-C, SIGTERM, SIGHUP */
    EMU_END_DEFECT       /* our own */
};

struct emu_supervision {
    const struct emu_job *job;
    const struct emu_segment *segment;
    const struct emu_signals *signals;
    struct emu_crew *crew;
    struct emu_inquest inquest;
    struct emu_capture capture;
    struct emu_detector detector;
    struct emu_member_view *members; /* room for the world */
    int watch;                       /* of signals, news, bell, and one pidfd a rank */
    bool untold;                     /* a rank is gone, and the segment does not say so to all */
    bool incident_seen[EMU_INCIDENT_MAX];
    int news;             /* descriptor */
    bool held;            /* --stop-on-finding has had its turn */
    uint64_t deadline_ns; /* 0: none */
    uint64_t kill_at_ns;  /* 0: the run goes on */
};

EMU_MUST_CHECK enum emu_status emu_supervision_init(struct emu_supervision *supervision,
                                                    const struct emu_job *job,
                                                    const struct emu_segment *segment,
                                                    struct emu_crew *crew);
void emu_supervision_finish(struct emu_supervision *supervision);

/* Prepare to hear of everything; both are borrowed. EMU_ESYSTEM with the reason. */
EMU_MUST_CHECK enum emu_status emu_supervision_open(struct emu_supervision *supervision,
                                                    const struct emu_signals *signals, int news,
                                                    struct emu_reason *reason);

/* Until no rank lives. */
void emu_supervise(struct emu_supervision *supervision);

#endif
