/* Will the machine give us what a mesh needs? Asked before anything is started.
 *
 * Each check answers EMU_OK, or EMU_ESYSTEM with a reason that says what is needed, what is allowed
 * and the command that raises it. A check that passes is no promise: others may take the room
 * meanwhile, so the call itself is checked again where it is made.
 */
#ifndef EMU_OS_LIMITS_H
#define EMU_OS_LIMITS_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdint.h>

/* `bytes` more of shared memory: RLIMIT_AS, RLIMIT_FSIZE (the mapping is a file to the kernel), the
 * memory that is available, and the control groups.
 * root    "" for this machine; tests give a folder that holds proc/ and sys/
 * advice  how the caller's user can need less, e.g. "use fewer ranks" */
EMU_MUST_CHECK enum emu_status emu_limits_check_memory(const char *root, uint64_t bytes,
                                                       const char *advice,
                                                       struct emu_reason *reason);

/* The same for the segment and, beside it, what each of `ranks` processes costs the machine: its
 * own pages, its page tables and the kernel's books (EMU_LIMITS_RANK_BYTES, measured, rounded up).
 * Control groups count all of it; the limits on address space and file sizes do not. */
#define EMU_LIMITS_RANK_BYTES (UINT64_C(256) << 10)
EMU_MUST_CHECK enum emu_status emu_limits_check_ranks(const char *root, uint64_t segment_bytes,
                                                      uint32_t ranks, struct emu_reason *reason);

/* `count` more processes and threads: RLIMIT_NPROC (not for root) and the control groups. */
EMU_MUST_CHECK enum emu_status emu_limits_check_processes(const char *root, uint32_t count,
                                                          struct emu_reason *reason);

/* `count` more open files. */
EMU_MUST_CHECK enum emu_status emu_limits_check_files(uint64_t count, struct emu_reason *reason);

#endif
