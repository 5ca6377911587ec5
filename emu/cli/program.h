/* The program, from its arguments to its exit code. */
#ifndef EMU_CLI_PROGRAM_H
#define EMU_CLI_PROGRAM_H

/* argv as main got it; it is permuted. Returns the exit code. */
int emu_program_run(int argc, char **argv);

#endif
