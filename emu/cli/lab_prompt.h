/* How does a person work in the lab: a prompt, and what a step has shown? */
#ifndef EMU_CLI_LAB_PROMPT_H
#define EMU_CLI_LAB_PROMPT_H

#include "lab/reliability.h"

#include <stdio.h>

/* Read commands from standard input until quit or its end. Returns an exit code. */
int emu_lab_prompt(struct emu_lab *lab);

void emu_lab_print_result(const struct emu_lab *lab, const struct emu_lab_result *result,
                          FILE *out);

#endif
