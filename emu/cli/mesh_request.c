#include "cli/mesh_request.h"

#include "base/number.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "report/config_file.h"

#include <stdio.h>
#include <string.h>

/* '=' before any '/' or '.': axes. Nothing at all is an empty mesh, not a file. */
static bool is_axes(const char *text)
{
    return *text == '\0' || text[strcspn(text, "=/.")] == '=';
}

/* The message, the text and a caret under the place. Bytes that would move the caret are shown as
 * '?'; so are those of UTF-8, which count one each. */
static int refuse_text(const struct emu_arguments *arguments, const char *text,
                       const struct emu_mesh_error *error)
{
    fprintf(stderr, "meshemu %s: error: %s\n  ", arguments->command->name, error->message);
    for (const char *c = text; *c; c++)
        fputc(*c >= ' ' && *c < 0x7f ? *c : '?', stderr);
    fprintf(stderr, "\n  %*s\n", (int)error->column, "^");
    return EMU_EXIT_USAGE;
}

static int read_config(const struct emu_arguments *arguments, struct emu_mesh_request *request)
{
    struct emu_text diagnostics = {0};
    enum emu_status status =
        emu_config_file_read(arguments->operand, NULL, 0, &diagnostics, &request->config);
    if (status == EMU_OK && !request->config->has_mesh) {
        emu_config_complain(request->config, &diagnostics, "mesh", "a mesh is needed here");
        status = EMU_EPARSE;
    }
    if (status == EMU_ENOMEM)
        emu_print_no_memory(arguments->command);
    fputs(emu_text_get(&diagnostics), stderr);
    emu_text_finish(&diagnostics);
    if (status == EMU_OK)
        request->mesh = &request->config->mesh;
    return emu_exit_of(status);
}

static int read_mesh(const struct emu_arguments *arguments, struct emu_mesh_request *request)
{
    const char *text = arguments->operand;
    if (!text)
        return emu_print_usage_error(arguments->command, "which AXES or CONFIG?");
    if (!is_axes(text))
        return read_config(arguments, request);
    struct emu_mesh_error error;
    if (emu_mesh_parse(text, &request->parsed, &error) != EMU_OK)
        return refuse_text(arguments, text, &error);
    request->mesh = &request->parsed;
    return EMU_EXIT_PASS;
}

static int read_over(const struct emu_arguments *arguments, struct emu_mesh_request *request)
{
    const char *text = emu_arguments_value(arguments, "over");
    struct emu_mesh_error error;
    if (text && emu_axes_parse(request->mesh, text, &request->over, &error) != EMU_OK)
        return refuse_text(arguments, text, &error);
    request->over_text = text;
    return EMU_EXIT_PASS;
}

static int read_rank(const struct emu_arguments *arguments, struct emu_mesh_request *request)
{
    const char *text = emu_arguments_value(arguments, "rank");
    if (!text)
        return EMU_EXIT_PASS;
    uint64_t rank;
    if (!emu_parse_u64(text, &rank) || rank >= request->mesh->world)
        return emu_print_usage_error(arguments->command,
                                     "--rank %s is no rank of this mesh: its ranks are 0 to %u",
                                     text, request->mesh->world - 1);
    request->has_rank = true;
    request->rank = (uint32_t)rank;
    return EMU_EXIT_PASS;
}

int emu_mesh_request_read(const struct emu_arguments *arguments, struct emu_mesh_request *request)
{
    *request = (struct emu_mesh_request){0};
    int code = read_mesh(arguments, request);
    if (code == EMU_EXIT_PASS)
        code = read_over(arguments, request);
    if (code == EMU_EXIT_PASS)
        code = read_rank(arguments, request);
    if (code != EMU_EXIT_PASS)
        emu_mesh_request_finish(request);
    return code;
}

void emu_mesh_request_finish(struct emu_mesh_request *request)
{
    emu_config_destroy(request->config);
    emu_mesh_finish(&request->parsed);
    *request = (struct emu_mesh_request){0};
}
