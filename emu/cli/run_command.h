/* What did the user ask `meshemu run` for, once the command line is read?
 *
 * The command line is checked for form only: that a config, a fault or a recipe makes sense is
 * decided by the command itself. config_file.h reads the config, json_output.h writes --json.
 */
#ifndef EMU_CLI_RUN_COMMAND_H
#define EMU_CLI_RUN_COMMAND_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All strings are borrowed for the time of the call. */
struct emu_run_options {
    const char *config_path;
    const struct emu_override *sets; /* --set, in the order given */
    size_t set_count;
    const char *const *faults; /* --fault, in the order given */
    size_t fault_count;
    bool gradients;
    bool traffic;     /* draw the map of who sent to whom */
    bool breakdown;   /* say where the time of the steps went */
    bool pin, no_pin; /* neither: as emu_training_options says */
    bool show_recipe;
    bool keep_going;
    uint64_t timeout_ns; /* 0: none */
    int64_t only_output; /* show this rank's output alone; -1: all. Below 2^31 */
    bool stop_on_finding;
    const char *record; /* where the flight recorders go; NULL: nowhere */
    const char *json;   /* NULL: no report; "-": standard output, which then gets nothing else */
    bool quiet;
    const char *replay; /* the command line, quoted for a shell */
};

/* Run the mesh, check it, print the verdict. Returns the exit code: 0 every check passed, 1 a
 * finding, 2 usage or config error, 3 the system refused, 70 a defect of ours. */
int emu_command_run(const struct emu_run_options *options);

#endif
