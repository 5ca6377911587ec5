#include "os/reason.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum emu_status emu_reason_set(struct emu_reason *reason, const char *format, ...)
{
    if (!reason)
        return EMU_ESYSTEM;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return EMU_ESYSTEM;
}

struct emu_size_text emu_size_text(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct emu_size_text out;
    unsigned unit = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(out.text, sizeof out.text, "%" PRIu64 " B", bytes);
    else
        snprintf(out.text, sizeof out.text, "%.1f %s", value, units[unit]);
    return out;
}
