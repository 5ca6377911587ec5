/* How does a test run something in a process of its own, so that only the parent asserts? */
#ifndef TESTS_OS_IN_CHILD_H
#define TESTS_OS_IN_CHILD_H

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit code of body(context) in a child; 1000 + signal where one killed it, 2000 where it had not
 * ended after `seconds` and was killed. */
static inline int run_in_child(int (*body)(void *context), void *context, unsigned seconds)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? body(context) : 255);
    }
    int status = 0;
    for (unsigned tick = 0; tick < seconds * 200; tick++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 2000;
}

#endif
