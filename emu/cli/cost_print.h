/* How do priced placements look: to a program, and to a person? */
#ifndef EMU_CLI_COST_PRINT_H
#define EMU_CLI_COST_PRINT_H

#include "account/placement_cost.h"

#include <stdio.h>

/* false: a write failed, or memory ran out. */
bool emu_cost_write_json(const struct emu_placements *placements, FILE *out);
bool emu_cost_print_text(const struct emu_placements *placements, FILE *out);

#endif
