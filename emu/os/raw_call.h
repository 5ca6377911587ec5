/* A system call without the way through the C library, which lies in pages of its own: a process
 * that comes back from sleep finds them cold. Answers as the kernel does, -errno where it refused,
 * and leaves errno alone: signal handlers wake, too.
 */
#ifndef EMU_OS_RAW_CALL_H
#define EMU_OS_RAW_CALL_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

struct emu_raw_arguments {
    const volatile void *first;
    long second, third;
    const void *fourth, *fifth;
    long sixth;
};

static inline long emu_raw_call(long number, const struct emu_raw_arguments *a)
{
#if defined(__x86_64__) && defined(__linux__)
    long answer = number;
    register const void *fourth __asm__("r10") = a->fourth;
    register const void *fifth __asm__("r8") = a->fifth;
    register long sixth __asm__("r9") = a->sixth;
    __asm__ volatile("syscall"
                     : "+a"(answer)
                     : "D"(a->first), "S"(a->second), "d"(a->third), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    return answer;
#else
    int saved = errno;
    long answer = syscall(number, a->first, a->second, a->third, a->fourth, a->fifth, a->sixth);
    answer = answer < 0 ? -errno : answer;
    errno = saved;
    return answer;
#endif
}

#endif
