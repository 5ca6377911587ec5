#include "cli/mesh_command.h"

#include "cli/exit_code.h"
#include "cli/mesh_frameworks.h"
#include "cli/mesh_print.h"
#include "cli/mesh_request.h"
#include "cli/print.h"
#include "os/terminal.h"
#include "report/json_output.h"

#include <string.h>
#include <unistd.h>

/* A person reads no longer lists; a file or pipe gets everything. */
#define TERMINAL_ROWS 64

static int print_text(const struct emu_mesh_request *request)
{
    uint32_t rows = emu_terminal_is(STDOUT_FILENO) ? TERMINAL_ROWS : 0;
    emu_mesh_print_text(request, stdout, rows, emu_terminal_width(STDOUT_FILENO));
    return emu_print_flush();
}

static int write_json(const struct emu_arguments *arguments, const struct emu_mesh_request *request)
{
    struct emu_text error = {0};
    struct emu_json_output output;
    const char *path = emu_arguments_value(arguments, "json");
    enum emu_status status = emu_json_output_open(&output, path, &error);
    if (status == EMU_OK) {
        (void)emu_mesh_print_json(request, output.stream); /* the commit sees a failed write */
        status = emu_json_output_commit(&output, &error);
    }
    int code = EMU_EXIT_PASS;
    if (status != EMU_OK)
        code = emu_print_refusal(arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

int emu_mesh_command_run(const struct emu_arguments *arguments)
{
    struct emu_mesh_request request;
    int code = emu_mesh_request_read(arguments, &request);
    if (code != EMU_EXIT_PASS)
        return code;
    const char *json = emu_arguments_value(arguments, "json");
    if (emu_arguments_has(arguments, "frameworks")) {
        code = emu_mesh_frameworks_run(arguments, &request);
        emu_mesh_request_finish(&request);
        return code;
    }
    if (json)
        code = write_json(arguments, &request);
    if (code == EMU_EXIT_PASS && (!json || strcmp(json, "-") != 0))
        code = print_text(&request);
    emu_mesh_request_finish(&request);
    return code;
}
