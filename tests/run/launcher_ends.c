/* What is left when the launcher itself is interrupted, killed, or refused what it needs? */
#include "os/in_child.h"
#include "run/hold_bell.h"
#include "run/job_maker.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

TestSuite(run_launcher, .timeout = 60);

/* Forks and threads of this program can be made to fail: the nth from now, counted down to 0. */
static int forks_allowed = -1, threads_allowed = -1;

static bool refused(int *allowed)
{
    if (*allowed < 0)
        return false;
    if (*allowed == 0)
        return true;
    --*allowed;
    return false;
}

pid_t fork(void)
{
    if (refused(&forks_allowed)) {
        errno = EAGAIN;
        return -1;
    }
    pid_t (*real)(void);
    *(void **)&real = dlsym(RTLD_NEXT, "fork");
    return real();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *context)
{
    if (refused(&threads_allowed))
        return EAGAIN;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, body, context);
}

/* Where the ranks of a launcher in a child process leave their pids. */
static volatile pid_t *pids;

static int note_and_sleep(struct emu_rank *rank, void *user)
{
    (void)user;
    pids[emu_rank_id(rank)] = getpid();
    while (emu_rank_world(rank) > 0)
        sleep_ms(1000);
    return 0;
}

/* A launcher whose ranks never end. 0: it was interrupted, found nothing and left nothing. */
static int launch_for_ever(void *context)
{
    struct job_maker maker;
    make_job(&maker, "dp=4", note_and_sleep, NULL);
    maker.job.hold_on_finding = context != NULL;
    if (emu_job_run(&maker.job, &maker.result) != EMU_OK)
        return 10;
    if (!maker.result.interrupted)
        return 11;
    if (maker.result.findings.count != 0)
        return 12;
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 ? 0 : 13;
}

static pid_t start_launcher(int (*body)(void *), void *context, bool own_group)
{
    pids = share(4096);
    pid_t parent = getpid(), launcher = fork();
    if (launcher == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (own_group)
            setpgid(0, 0);
        _exit(getppid() == parent ? body(context) : 255);
    }
    for (int rank = 0; rank < 4; rank++)
        while (pids[rank] == 0)
            sleep_ms(1);
    return launcher;
}

static int code_of(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void assert_ranks_gone(void)
{
    for (int rank = 0; rank < 4; rank++)
        while (kill(pids[rank], 0) == 0)
            sleep_ms(1);
}

Test(run_launcher, ends_all_ranks_when_interrupted)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        pid_t launcher = start_launcher(launch_for_ever, NULL, false);
        kill(launcher, signals[i]);
        cr_assert_eq(code_of(launcher), 0);
        assert_ranks_gone();
    }
}

Test(run_launcher, takes_a_signal_to_the_whole_group_as_an_interrupt)
{
    for (int round = 0; round < 10; round++) {
        pid_t launcher = start_launcher(launch_for_ever, NULL, true);
        kill(-launcher, SIGINT);
        cr_assert_eq(code_of(launcher), 0);
        assert_ranks_gone();
    }
}

Test(run_launcher, takes_its_ranks_along_when_it_is_killed)
{
    pid_t launcher = start_launcher(launch_for_ever, NULL, false);
    kill(launcher, SIGKILL);
    cr_assert_eq(code_of(launcher), 1000 + SIGKILL);
    assert_ranks_gone();
}

static int note_and_crash(struct emu_rank *rank, void *user)
{
    pids[emu_rank_id(rank)] = getpid();
    if (emu_rank_id(rank) == 1) {
        while (!pids[0] || !pids[2] || !pids[3])
            sleep_ms(1);
        die_by(SIGSEGV);
    }
    return note_and_sleep(rank, user);
}

/* A launcher that holds its ranks at the first fault. 0: it found the crash alone. */
static int launch_and_hold(void *context)
{
    struct job_maker maker;
    (void)context;
    close(STDERR_FILENO);
    open("/dev/null", O_WRONLY);
    make_job(&maker, "dp=4", note_and_crash, NULL);
    maker.job.hold_on_finding = true;
    if (emu_job_run(&maker.job, &maker.result) != EMU_OK)
        return 10;
    const struct emu_findings *findings = &maker.result.findings;
    return findings->count == 1 && findings->items[0].class_id == EMU_CLASS_CRASH
               ? (maker.result.interrupted ? 21 : 20)
               : 11;
}

static int noted;

static int note_and_wait(struct emu_rank *rank, void *user)
{
    struct emu_hold_bell *bell = user;
    pids[emu_rank_id(rank)] = getpid();
    while (!pids[4])
        sleep_ms(1);
    return bell ? 0 : 1;
}

/* The ranks wait for the auditor, as at a gate; it has found something. */
static void ring(const struct emu_segment *segment, void *user)
{
    struct emu_finding finding = {.class_id = EMU_CLASS_INIT_MISMATCH};
    (void)segment;
    while (!pids[0] || !pids[1] || !pids[2] || !pids[3])
        sleep_ms(1);
    emu_hold_bell_ring(user, &finding);
    emu_hold_bell_ring(user, &finding);
    noted++;
    pids[4] = 1;
}

static int launch_and_ring(void *context)
{
    struct job_maker maker;
    struct emu_hold_bell bell;
    (void)context;
    close(STDERR_FILENO);
    open("/dev/null", O_WRONLY);
    if (emu_hold_bell_init(&bell, NULL) != EMU_OK)
        return 9;
    make_job(&maker, "dp=4", note_and_wait, &bell);
    maker.job.auditor = ring;
    maker.job.bell = &bell;
    maker.job.hold_on_finding = true;
    if (emu_job_run(&maker.job, &maker.result) != EMU_OK || noted != 1)
        return 10;
    emu_hold_bell_ring(&bell, NULL);
    emu_hold_bell_finish(&bell);
    return maker.result.findings.count == 0 ? (maker.result.interrupted ? 31 : 30) : 11;
}

/* 'T' in /proc/PID/stat. */
static bool is_stopped(pid_t pid)
{
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(name, "r");
    if (!file)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *state = strrchr(text, ')');
    return state && state[2] == 'T';
}

static void check_hold(int (*body)(void *), int go_on_with, int expected)
{
    pid_t launcher = start_launcher(body, NULL, false);
    for (int rank = 0; rank < 4; rank++)
        while ((body == launch_and_ring || rank != 1) && !is_stopped(pids[rank]))
            sleep_ms(1);
    sleep_ms(200);
    cr_assert(is_stopped(pids[0]), "the ranks are held until somebody says so");
    kill(launcher, go_on_with);
    cr_assert_eq(code_of(launcher), expected);
    assert_ranks_gone();
}

Test(run_launcher, holds_the_ranks_at_a_finding_until_it_is_told_to_go_on)
{
    check_hold(launch_and_hold, SIGCONT, 20);
    check_hold(launch_and_hold, SIGINT, 21);
}

Test(run_launcher, holds_the_ranks_for_the_auditor)
{
    check_hold(launch_and_ring, SIGCONT, 30);
    check_hold(launch_and_ring, SIGTERM, 31);
}

/* Enter goes on, on a terminal. */
Test(run_launcher, goes_on_at_enter)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        cr_skip_test("no pseudo-terminals here");
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    cr_assert_eq(dup2(slave, STDIN_FILENO), STDIN_FILENO);
    pid_t launcher = start_launcher(launch_and_hold, NULL, false);
    while (!is_stopped(pids[0]))
        sleep_ms(1);
    cr_assert_eq(write(master, "\n", 1), 1);
    cr_assert_eq(code_of(launcher), 20);
    assert_ranks_gone();
}

Test(run_launcher, may_be_called_where_children_are_ignored)
{
    struct job_maker maker;
    signal(SIGCHLD, SIG_IGN);
    make_job(&maker, "dp=2", note_and_crash, NULL);
    pids = share(4096);
    pids[2] = pids[3] = 1;
    run_job(&maker);
    assert_one_finding(&maker, EMU_CLASS_CRASH, 1);
    finish_job(&maker);
}

static int say(struct emu_rank *rank, void *user)
{
    *(int *)user = 1;
    return (int)emu_rank_id(rank);
}

/* Refused, with nothing started or left behind. */
static void assert_refused(struct job_maker *maker)
{
    int *ran = share(4096);
    maker->job.body = say;
    maker->job.user = ran;
    uint32_t files = emu_stream_count();
    sigset_t mask;
    cr_assert_eq(emu_job_run(&maker->job, &maker->result), EMU_ESYSTEM);
    forks_allowed = threads_allowed = -1;
    cr_assert_eq(emu_stream_count(), files, "a descriptor is left");
    assert_no_child_left();
    cr_assert_eq(*ran, 0, "a rank has begun");
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    cr_assert_not(sigismember(&mask, SIGINT));
    finish_job(maker);
}

Test(run_launcher, a_refused_fork_is_an_error_and_starts_nothing)
{
    for (int allowed = 0; allowed < 4; allowed++) {
        struct job_maker maker;
        make_job(&maker, "dp=4", say, NULL);
        forks_allowed = allowed;
        assert_refused(&maker);
    }
}

static void no_audit(const struct emu_segment *segment, void *user)
{
    (void)segment;
    (void)user;
}

Test(run_launcher, a_refused_thread_is_an_error_and_starts_nothing)
{
    for (int allowed = 0; allowed < 3; allowed++) {
        struct job_maker maker;
        make_job(&maker, "dp=4", say, NULL);
        maker.job.auditor = no_audit;
        threads_allowed = allowed;
        assert_refused(&maker);
    }
}

Test(run_launcher, a_mesh_that_no_machine_holds_is_refused)
{
    struct job_maker maker;
    make_job(&maker, "dp=4", say, NULL);
    maker.job.arena_bytes = UINT64_C(1) << 60;
    assert_refused(&maker);
    make_job(&maker, "dp=4", say, NULL);
    maker.job.arena_bytes = UINT64_MAX;
    assert_refused(&maker);
}

static int launch_without(void *context)
{
    struct rlimit few = {16, 16};
    int resource = *(int *)context;
    if (setrlimit((__rlimit_resource_t)resource, &few) != 0 ||
        (resource == RLIMIT_NPROC && getuid() == 0 && setuid(54323) != 0))
        return 9;
    struct job_maker maker;
    make_job(&maker, "dp=1000", note_and_sleep, NULL);
    pids = share(4096);
    return emu_job_run(&maker.job, &maker.result) == EMU_ESYSTEM ? 0 : 1;
}

Test(run_launcher, limits_of_processes_and_files_are_errors)
{
    int processes = RLIMIT_NPROC, files = RLIMIT_NOFILE;
    cr_assert_eq(run_in_child(launch_without, &processes, 20), 0);
    cr_assert_eq(run_in_child(launch_without, &files, 20), 0);
}
