/* What does the program's exit code say? The one list; help and man page print it. */
#ifndef EMU_CLI_EXIT_CODE_H
#define EMU_CLI_EXIT_CODE_H

#include <meshemu/status.h>

#define EMU_EXIT_LIST(X)                                                                           \
    X(EMU_EXIT_PASS, 0, "every check passed")                                                      \
    X(EMU_EXIT_FINDING, 1, "a finding")                                                            \
    X(EMU_EXIT_USAGE, 2, "usage or config error")                                                  \
    X(EMU_EXIT_SYSTEM, 3, "the system refused memory, processes or files")                         \
    X(EMU_EXIT_INTERNAL, 70, "a defect of meshemu itself")                                         \
    X(EMU_EXIT_INTERRUPTED, 130, "ended by Ctrl-C, SIGTERM or SIGHUP")

enum emu_exit {
#define EMU_EXIT_ENUMERATOR(name, code, text) name = code,
    EMU_EXIT_LIST(EMU_EXIT_ENUMERATOR)
#undef EMU_EXIT_ENUMERATOR
};

/* The exit code of a command that ended with this status. */
static inline int emu_exit_of(enum emu_status status)
{
    switch (status) {
    case EMU_OK:
        return EMU_EXIT_PASS;
    case EMU_EINVAL:
    case EMU_EPARSE:
    case EMU_ERANGE:
    case EMU_ENOTFOUND:
    case EMU_EUNSUPPORTED:
        return EMU_EXIT_USAGE;
    case EMU_ENOMEM:
    case EMU_ESYSTEM:
        return EMU_EXIT_SYSTEM;
    default:
        return EMU_EXIT_INTERNAL;
    }
}

#endif
