/* Would the checks have told? Inject each fault into a run of its own, and score the diagnosis.
 *
 * What a run should find is known before it starts, from plan and address (fault/expectation.h).
 * Between the faults lie control runs without one: in these nothing may be found.
 */
#ifndef EMU_RUN_CAMPAIGN_H
#define EMU_RUN_CAMPAIGN_H

#include "fault/fault.h"
#include "plan/plan.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

/* By which kind of check a finding's class is found: columns of the matrix. */
#define EMU_CATCHER_LIST(X)                                                                        \
    X(EMU_CATCHER_CALLS, "calls")                                                                  \
    X(EMU_CATCHER_PROCESSES, "processes")                                                          \
    X(EMU_CATCHER_PAYLOAD, "payload")                                                              \
    X(EMU_CATCHER_INIT, "init")                                                                    \
    X(EMU_CATCHER_TILING, "tiling")                                                                \
    X(EMU_CATCHER_DATA, "data")                                                                    \
    X(EMU_CATCHER_REPLICAS, "replicas")                                                            \
    X(EMU_CATCHER_LEDGER, "ledger")                                                                \
    X(EMU_CATCHER_ORACLE, "oracle")                                                                \
    X(EMU_CATCHER_BOOKS, "books")

enum emu_catcher {
#define EMU_CATCHER_ENUMERATOR(name, text) name,
    EMU_CATCHER_LIST(EMU_CATCHER_ENUMERATOR)
#undef EMU_CATCHER_ENUMERATOR
        EMU_CATCHER_COUNT
};
enum emu_catcher emu_catcher_of(enum emu_class class_id);
const char *emu_catcher_name(enum emu_catcher catcher);

struct emu_campaign_run {
    char fault[EMU_FAULT_SPEC_MAX];
    enum emu_fault_kind kind;
    const char *skipped; /* why it does not apply; NULL: it was run */
    bool quiet;          /* nothing was to be found */
    uint64_t expected;   /* classes, as bits */
    uint32_t fired;
    bool found; /* a fault was found, of class `got` */
    enum emu_class got;
    bool class_right; /* every fault found is of an expected class */
    bool culprit_right;
    int64_t after_ns; /* from the enabling event to the finding; -1: found by an audit */
    bool pass;
    char *message; /* of the first fault found; NULL: none. Owned */
};

struct emu_campaign {
    struct emu_campaign_run *runs; /* owned */
    size_t count;
    uint32_t controls, false_alarms;
    bool interrupted;
};

struct emu_campaign_options {
    const char *text; /* content of data.text; NULL: inline tokens */
    uint64_t text_size;
    uint64_t random; /* so many random faults; 0: every kind at its addresses */
    uint64_t seed;
    int output_fd; /* where the ranks' output goes */
    void (*progress)(const struct emu_campaign *campaign, size_t runs, void *user); /* or NULL */
    void *user;
};

/* EMU_OK: it ran, see pass of each run. EMU_ESYSTEM, EMU_ENOMEM: a message is on stderr. */
EMU_MUST_CHECK enum emu_status emu_campaign_conduct(const struct emu_plan *plan,
                                                    const struct emu_campaign_options *options,
                                                    struct emu_campaign *campaign);
void emu_campaign_finish(struct emu_campaign *campaign);

/* Each fault fired once and was named, and no control raised one. */
bool emu_campaign_passed(const struct emu_campaign *campaign);

#endif
