#include "cli/program.h"

int main(int argc, char **argv)
{
    return emu_program_run(argc, argv);
}
