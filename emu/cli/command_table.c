#include "base/suggest.h"
#include "cli/account_command.h"
#include "cli/bench_command.h"
#include "cli/command.h"
#include "cli/cost_command.h"
#include "cli/faults_command.h"
#include "cli/help.h"
#include "cli/lab_command.h"
#include "cli/mesh_command.h"
#include "cli/run_options.h"
#include "cli/script_command.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define HELP_ROW                                                                                   \
    {                                                                                              \
        "help", NULL, "print this help", false                                                     \
    }
#define JSON_ROW                                                                                   \
    {                                                                                              \
        "json", "FILE|-", "write the report as JSON; - is standard output", false                  \
    }

#define RECORD_ROW                                                                                 \
    {                                                                                              \
        "record", "FILE", "write the last 256 calls of every rank as JSON", false                  \
    }

static const struct emu_option run_options[] = {
    {"set", "KEY=VALUE", "change a key of the config, as in --set train.steps=5", true},
    {"fault", "SPEC", "inject a fault, as in --fault 'crash rank=2 step=1'", true},
    {"gradients", NULL, "put the gradients of the last step into the report", false},
    {"traffic", NULL, "draw who sent how much to whom in the last step", false},
    {"breakdown", NULL, "say where the time of the steps went, rank by rank", false},
    {"pin", NULL, "bind ranks to processors also where each has its own", false},
    {"no-pin", NULL, "bind none (default: where ranks are more)", false},
    {"show-recipe", NULL, "print the recipe in force and run nothing", false},
    {"keep-going", NULL, "go on after a faulty step or a failed rank", false},
    {"timeout", "T", "end all ranks after this time, as in 500ms, 10s or 2m", false},
    {"only-output", "R", "show the output of this rank alone", false},
    RECORD_ROW,
    {"stop-on-finding", NULL, "hold the ranks at a finding and print their pids", false},
    JSON_ROW,
    {"quiet", NULL, "print the verdict and findings alone", false},
    {"help-config", NULL, "print every key of a config and run nothing", false},
    HELP_ROW,
};

static const struct emu_command run_command = {
    "run",
    "CONFIG",
    "run the mesh, check it, print the verdict",
    "Starts one process a rank, trains as the config says, and checks every step:\n"
    "replicas agree bit for bit, shards tile each tensor once, no example is read\n"
    "twice or left out, every token weighs the same in every gradient, the same\n"
    "step on a mesh of one gives the same values within a derived bound, and the\n"
    "bytes that each rank holds and sends are those that the plan predicts.",
    run_options,
    COUNT(run_options),
    emu_run_options_run,
};

static const struct emu_option mesh_options[] = {
    {"over", "AXES", "also list the groups over these axes, as in --over dp,cp", false},
    {"rank", "R", "only the coordinates and groups of this rank", false},
    {"frameworks", NULL, "compare with the rank orders of other frameworks", false},
    JSON_ROW,
    HELP_ROW,
};

static const struct emu_command mesh_command = {
    "mesh",
    "AXES|CONFIG",
    "print ranks, coordinates and the groups of every axis",
    "AXES is a mesh as in dp=2,tp=4: the first axis is outermost, the last one runs\n"
    "fastest, so rank = dp*4 + tp. CONFIG is a file with a mesh in it; an argument\n"
    "with '=' before any '/' or '.' is AXES. A group lists its members in the order\n"
    "of the axes asked for. With --rank the size of the mesh does not matter.",
    mesh_options,
    COUNT(mesh_options),
    emu_mesh_command_run,
};

static const struct emu_option script_options[] = {
    JSON_ROW,
    RECORD_ROW,
    {"repeat", "N", "run it N times, until a run differs from the first", false},
    {"timeout", "T", "end all ranks after this time, as in 500ms, 10s or 2m", false},
    HELP_ROW,
};

static const struct emu_command script_command = {
    "script",
    "FILE",
    "run a communication program, one list of calls for each rank",
    "FILE is YAML: a mesh, what each rank calls in its turn, and what happens to it\n"
    "between the calls. A wrong program is diagnosed: which call, which ranks, why.\n"
    "With --repeat the first report that differs from the first run's in findings or\n"
    "results is printed, else the last one.",
    script_options,
    COUNT(script_options),
    emu_script_command_run,
};

static const struct emu_option help_options[] = {HELP_ROW};

static const struct emu_command help_command = {
    "help",
    "COMMAND",
    "explain a command",
    "Without COMMAND it lists all commands.",
    help_options,
    COUNT(help_options),
    emu_help_run,
};

const struct emu_command *const emu_commands[] = {
    &run_command,    &mesh_command,       &emu_account_command, &emu_cost_command, &emu_lab_command,
    &script_command, &emu_faults_command, &emu_bench_command,   &help_command,
};
const size_t emu_command_count = COUNT(emu_commands);

static const struct emu_option program_options[] = {
    HELP_ROW,
    {"version", NULL, "print the version", false},
    {"completion", "SHELL", "print the completion script for a shell (bash)", false},
    {"man", NULL, "print the manual page (roff)", false},
};

const struct emu_command emu_program = {
    "",
    NULL,
    "a device mesh on one machine, with proof that it is right",
    "One real process a rank, real collectives over shared memory, and proof that\n"
    "every gradient was combined exactly once.",
    program_options,
    COUNT(program_options),
    emu_help_program_run,
};

const struct emu_command *emu_command_find(const char *name)
{
    for (size_t i = 0; i < emu_command_count; i++)
        if (strcmp(emu_commands[i]->name, name) == 0)
            return emu_commands[i];
    return NULL;
}

const char *emu_command_suggest(const char *name)
{
    const char *names[COUNT(emu_commands)];
    for (size_t i = 0; i < emu_command_count; i++)
        names[i] = emu_commands[i]->name;
    return emu_suggest(name, names, emu_command_count);
}
