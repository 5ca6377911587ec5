/* Which variables of the environment does the program (or one that uses the library) read? The one
 * list; help and man page print it.
 */
#ifndef EMU_CLI_ENVIRONMENT_H
#define EMU_CLI_ENVIRONMENT_H

#define EMU_ENVIRONMENT_LIST(X)                                                                    \
    X("MESHEMU_WAYS", "other thresholds of collectives: see bench --plan")                         \
    X("MESHEMU_CPU_VARIANT", "baseline, avx2 or avx512: the most that is used")                    \
    X("MESHEMU_FAULT", "in programs that use the library: faults to inject")                       \
    X("MESHEMU_JSON", "likewise: a file for the report as JSON")                                   \
    X("MESHEMU_RECORD", "likewise: a file for the last 256 calls of every rank")                   \
    X("NO_COLOR", "no colour on a terminal")

#endif
