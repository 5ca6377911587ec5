#include "os/terminal.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int open_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    return open(ptsname(master), O_RDWR | O_NOCTTY);
}

Test(os_terminal, a_file_is_none_and_has_no_colour, .timeout = 30)
{
    int fd = open("/dev/null", O_WRONLY);
    setenv("TERM", "xterm", 1);
    cr_assert_not(emu_terminal_is(fd));
    cr_assert_not(emu_terminal_colour(fd));
    unsetenv("COLUMNS");
    cr_assert_eq(emu_terminal_width(fd), 80);
    setenv("COLUMNS", "123", 1);
    cr_assert_eq(emu_terminal_width(fd), 123);
    setenv("COLUMNS", "12x", 1);
    cr_assert_eq(emu_terminal_width(fd), 80);
    setenv("COLUMNS", "99999999999999999999999", 1);
    cr_assert_eq(emu_terminal_width(fd), 1000);
}

Test(os_terminal, colour_may_be_refused, .timeout = 30)
{
    int fd = open_terminal();
    if (fd < 0)
        cr_skip_test("no pseudo-terminals here");
    cr_assert(emu_terminal_is(fd));
    struct winsize size = {.ws_col = 57, .ws_row = 9};
    cr_assert_eq(ioctl(fd, TIOCSWINSZ, &size), 0);
    cr_assert_eq(emu_terminal_width(fd), 57);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    cr_assert(emu_terminal_colour(fd));
    setenv("NO_COLOR", "", 1);
    cr_assert(emu_terminal_colour(fd));
    setenv("NO_COLOR", "1", 1);
    cr_assert_not(emu_terminal_colour(fd));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    cr_assert_not(emu_terminal_colour(fd));
    unsetenv("TERM");
    cr_assert_not(emu_terminal_colour(fd));
}
