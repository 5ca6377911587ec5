/* Why did the system refuse? One sentence for a person: what was needed, what is allowed, what to
 * do. */
#ifndef EMU_OS_REASON_H
#define EMU_OS_REASON_H

#include <meshemu/status.h>

#include <stdint.h>

#define EMU_REASON_MAX 400

struct emu_reason {
    char text[EMU_REASON_MAX];
};

/* printf into the reason (cut at its end). Returns EMU_ESYSTEM, so that a refusal is one line:
 * return emu_reason_set(reason, ...). reason may be NULL. */
enum emu_status emu_reason_set(struct emu_reason *reason, const char *format, ...) EMU_PRINTF(2, 3);

/* Bytes for a person: "12.0 GiB", "512 B". */
struct emu_size_text {
    char text[24];
};
struct emu_size_text emu_size_text(uint64_t bytes);

#endif
