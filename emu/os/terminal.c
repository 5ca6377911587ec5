#include "os/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool emu_terminal_is(int fd)
{
    return isatty(fd) == 1;
}

static uint32_t clamp(unsigned long columns)
{
    if (columns < 20)
        return 20;
    return columns > 1000 ? 1000 : (uint32_t)columns;
}

uint32_t emu_terminal_width(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp(size.ws_col);
    const char *columns = getenv("COLUMNS");
    char *end;
    unsigned long value = columns ? strtoul(columns, &end, 10) : 0;
    if (value > 0 && *end == '\0')
        return clamp(value);
    return 80;
}

bool emu_terminal_colour(int fd)
{
    const char *refused = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
    if (!emu_terminal_is(fd) || (refused && *refused))
        return false;
    return kind && *kind && strcmp(kind, "dumb") != 0;
}
