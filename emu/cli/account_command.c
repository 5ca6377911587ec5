#include "cli/account_command.h"

#include "account/book_print.h"
#include "cli/account_request.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "os/terminal.h"
#include "report/json_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the user's terminal show UTF-8? Asked of the environment: the program's own locale stays C.
 */
static bool shows_blocks(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    if (!emu_terminal_is(STDOUT_FILENO))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

static void print_header(const struct emu_account_request *request, FILE *out)
{
    static const char *const kinds[] = {"mlp_lm", "linear", "transformer"};
    static const char *const shards[] = {"none", "zero1", "zero2", "zero3"};
    const struct emu_config *config = request->config;
    char figure[EMU_BYTES_TEXT];
    fputs("mesh ", out);
    emu_mesh_text(&config->mesh, out);
    fprintf(out, ": %" PRIu32 " ranks; %s", config->mesh.world, kinds[config->model.kind]);
    if (config->model.kind != EMU_MODEL_LINEAR)
        fprintf(out, ", %" PRIu64 " layer%s", config->model.layers,
                config->model.layers == 1 ? "" : "s");
    fprintf(out, "; optimizer sharding %s\n", shards[config->optimizer.shard]);
    fprintf(out, "unique: %" PRIu64 " elements, %s of weight, gradient, master and moments\n\n",
            request->books.unique_elements,
            emu_bytes_text((double)request->books.unique_bytes, figure));
}

static int print_text(const struct emu_arguments *arguments,
                      const struct emu_account_request *request)
{
    struct emu_book_page page = {.out = stdout,
                                 .columns = emu_terminal_width(STDOUT_FILENO),
                                 .blocks = shows_blocks(),
                                 .colour = emu_terminal_colour(STDOUT_FILENO)};
    print_header(request, stdout);
    emu_book_chart(&request->books, request->claims, &page);
    if (!request->claims[EMU_BOOK_ACTIVATIONS].unique)
        fputs("  activations are counted for transformers without latent attention alone\n",
              stdout);
    emu_book_tensors(&request->books, stdout);
    emu_book_ranks(&request->books, request->has_rank ? &request->rank : NULL, stdout);
    emu_book_causes(&request->books, stdout);
    if (request->survive && !emu_account_print_survival(request, stdout))
        return emu_print_no_memory(arguments->command);
    return emu_print_flush();
}

/* Write one file (or, for JSON, standard output) whole or not at all. */
static int write_file(const struct emu_arguments *arguments,
                      const struct emu_account_request *request, const char *path, bool svg)
{
    struct emu_text error = {0};
    struct emu_json_output output;
    int code = EMU_EXIT_PASS;
    enum emu_status status = emu_json_output_open(&output, path, &error);
    if (status == EMU_OK) {
        bool whole = true;
        if (svg)
            emu_book_svg(&request->books, request->claims, output.stream);
        else
            whole = emu_account_write_json(request, output.stream);
        if (!whole && !ferror(output.stream)) {
            emu_json_output_discard(&output);
            return emu_print_no_memory(arguments->command);
        }
        status = emu_json_output_commit(&output, &error); /* sees a failed write */
    }
    if (status != EMU_OK)
        code = emu_print_refusal(arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int run(const struct emu_arguments *arguments)
{
    struct emu_account_request request;
    const char *json = emu_arguments_value(arguments, "json");
    const char *svg = emu_arguments_value(arguments, "svg");
    if (svg && !strcmp(svg, "-"))
        return emu_print_usage_error(arguments->command, "--svg needs the name of a file");
    int code = emu_account_request_read(arguments, &request);
    if (code != EMU_EXIT_PASS)
        return code;
    if (json)
        code = write_file(arguments, &request, json, false);
    if (svg && code == EMU_EXIT_PASS)
        code = write_file(arguments, &request, svg, true);
    if (code == EMU_EXIT_PASS && (!json || strcmp(json, "-") != 0))
        code = print_text(arguments, &request);
    emu_account_request_finish(&request);
    return code;
}

static const struct emu_option options[] = {
    {"rank", "R", "only the row of this rank", false},
    {"survive", "K", "odds that all state survives 1 to K lost ranks, exact", false},
    {"node-size", "G", "lose whole nodes of G consecutive ranks instead", false},
    {"svg", "FILE", "draw the chart into a file", false},
    {"json", "FILE|-", "write the report as JSON; - is standard output", false},
    {"help", NULL, "print this help", false},
};

const struct emu_command emu_account_command = {
    "account",
    "CONFIG",
    "print unique, resident and aggregate bytes; start no process",
    "Three counts that one number hides: the elements of the model, each once; what\n"
    "every rank holds; what all ranks hold together. The difference is explained as\n"
    "a sum of named causes, exact to the element, and the claim that dividing by the\n"
    "number of devices makes is refuted by tensor and axis. CONFIG needs a mesh and\n"
    "a model (mlp_lm, linear or transformer). The size of the mesh does not matter.",
    options,
    sizeof options / sizeof options[0],
    run,
};
