/* May we draw for a person here, how wide, and in colour? */
#ifndef EMU_OS_TERMINAL_H
#define EMU_OS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

bool emu_terminal_is(int fd);

/* Columns: of the terminal, else $COLUMNS, else 80; between 20 and 1000. */
uint32_t emu_terminal_width(int fd);

/* A terminal that can show colour, and a user who did not refuse it (NO_COLOR, TERM=dumb). */
bool emu_terminal_colour(int fd);

#endif
