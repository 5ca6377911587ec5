/* How does a test run ranks and look at what came of it? */
#ifndef TESTS_RUN_JOB_MAKER_H
#define TESTS_RUN_JOB_MAKER_H

#include "os/stream.h"
#include "run/job.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job_maker {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_job job;
    struct emu_job_result result;
};

static inline void make_job(struct job_maker *maker, const char *mesh,
                            int (*body)(struct emu_rank *rank, void *user), void *user)
{
    struct emu_mesh_error error;
    memset(maker, 0, sizeof *maker);
    cr_assert_eq(emu_mesh_parse(mesh, &maker->mesh, &error), EMU_OK);
    emu_roster_init(&maker->roster, &maker->mesh);
    maker->job = (struct emu_job){.roster = &maker->roster,
                                  .arena_bytes = 1 << 20,
                                  .body = body,
                                  .user = user,
                                  .only_output = -1,
                                  .output_fd = 1};
}

/* The only child that may be left is none. */
static inline void assert_no_child_left(void)
{
    siginfo_t info;
    cr_assert(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD,
              "a child is left");
}

/* Run, and check that nothing is left: no child, no descriptor. */
static inline void run_job(struct job_maker *maker)
{
    uint32_t files = emu_stream_count();
    cr_assert_eq(emu_job_run(&maker->job, &maker->result), EMU_OK);
    cr_assert_eq(emu_stream_count(), files, "a descriptor is left");
    assert_no_child_left();
}

static inline void finish_job(struct job_maker *maker)
{
    emu_job_result_finish(&maker->result);
    emu_roster_finish(&maker->roster);
    emu_mesh_finish(&maker->mesh);
}

/* Memory that the test and its ranks share. */
static inline void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    return memory;
}

static inline void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

/* By this signal, also where a sanitizer would turn it into an exit. */
static inline void die_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* The one finding, of this class, that blames `culprit` alone (-1: undecided). */
static inline const struct emu_finding *assert_one_finding(const struct job_maker *maker,
                                                           enum emu_class class_id, int64_t culprit)
{
    const struct emu_findings *findings = &maker->result.findings;
    cr_assert_eq(findings->count, 1, "%zu findings, the first says %s", findings->count,
                 findings->count ? findings->items[0].message : "nothing");
    const struct emu_finding *finding = &findings->items[0];
    cr_assert_eq(finding->class_id, class_id, "%s: %s", emu_class_name(finding->class_id),
                 finding->message);
    if (culprit < 0)
        cr_assert(finding->undecided && finding->culprit_count == 0);
    else
        cr_assert(finding->culprit_count == 1 && finding->culprits[0] == culprit, "%s",
                  finding->message);
    return finding;
}

#endif
