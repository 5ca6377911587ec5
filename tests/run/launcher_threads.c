/* Do the threads of the launcher (supervisor, output, news, auditor) share nothing by accident? Run
 * under ThreadSanitizer; also the leak check of a launcher that runs many jobs. Exit code 0 is a
 * pass. */
#include "run/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Talks and adds; the victim dies in the middle. */
static int talk(struct emu_rank *rank, void *user)
{
    int victim = *(int *)user;
    uint32_t world;
    double sum = 0;
    if (emu_rank_group(rank, "world", &world) != EMU_OK)
        return 1;
    for (int i = 0; i < 50; i++) {
        printf("rank %u says line %d\n", (unsigned)emu_rank_id(rank), i);
        if (i == 25 && victim == (int)emu_rank_id(rank))
            raise(SIGKILL);
        if (emu_all_reduce(rank, world, &sum, &sum, 1, EMU_F64, EMU_SUM) != EMU_OK)
            return 2;
    }
    return 0;
}

static void watch(const struct emu_segment *segment, void *user)
{
    uint32_t seen = emu_news_look(segment);
    (void)user;
    emu_news_wait(segment, seen, 10000000);
}

/* 0: the run ended as the victim (-1: nobody) demands. */
static int run_once(const struct emu_roster *roster, int output, int victim)
{
    struct emu_job_result result;
    struct emu_job job = {.roster = roster,
                          .arena_bytes = 65536,
                          .body = talk,
                          .auditor = watch,
                          .user = &victim,
                          .only_output = -1,
                          .output_fd = output};
    if (emu_job_run(&job, &result) != EMU_OK)
        return 1;
    size_t wanted = victim < 0 ? 0 : 1;
    int code = result.findings.count == wanted ? 0 : 1;
    emu_job_result_finish(&result);
    return code;
}

int main(void)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    struct emu_roster roster;
    int output = open("/dev/null", O_WRONLY), failed = 0;
    if (emu_mesh_parse("dp=2,tp=2", &mesh, &error) != EMU_OK)
        return 1;
    emu_roster_init(&roster, &mesh);
    for (int round = 0; round < 10; round++)
        failed += run_once(&roster, output, round % 5 - 1);
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
    close(output);
    if (failed)
        fprintf(stderr, "%d of 10 runs did not end as they should\n", failed);
    return failed != 0;
}
