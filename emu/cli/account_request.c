#include "cli/account_request.h"

#include "base/number.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "report/config_file.h"

#include <inttypes.h>

/* Print what is wrong with the config and finish the text. */
static int give_up(const struct emu_arguments *arguments, struct emu_text *diagnostics,
                   enum emu_status status)
{
    if (status == EMU_ENOMEM)
        emu_print_no_memory(arguments->command);
    fputs(emu_text_get(diagnostics), stderr);
    emu_text_finish(diagnostics);
    return emu_exit_of(status);
}

int emu_account_config_read(const struct emu_arguments *arguments, struct emu_config **config)
{
    struct emu_text diagnostics = {0};
    struct emu_config *read = NULL;
    if (!arguments->operand)
        return emu_print_usage_error(arguments->command, "which CONFIG?");
    enum emu_status status = emu_config_file_read(arguments->operand, NULL, 0, &diagnostics, &read);
    if (status == EMU_OK && !read->has_model) {
        emu_config_complain(read, &diagnostics, "model",
                            "a model is needed here, as in model: {kind: mlp_lm}");
        status = EMU_EPARSE;
    }
    if (status == EMU_OK)
        *config = read;
    else
        emu_config_destroy(read);
    return give_up(arguments, &diagnostics, status);
}

static int read_books(const struct emu_arguments *arguments, struct emu_account_request *request)
{
    struct emu_text diagnostics = {0};
    enum emu_status status = emu_books_make(request->config, &diagnostics, &request->books);
    if (status == EMU_OK && !emu_claims_make(&request->books, request->claims)) {
        emu_config_complain(request->config, &diagnostics, "model",
                            "the activations are above 2^63-1 bytes, the most that is counted");
        status = EMU_EPARSE;
    }
    return give_up(arguments, &diagnostics, status);
}

static int read_rank(const struct emu_arguments *arguments, struct emu_account_request *request)
{
    const char *text = emu_arguments_value(arguments, "rank");
    uint32_t world = request->config->mesh.world;
    uint64_t rank;
    if (!text)
        return EMU_EXIT_PASS;
    if (!emu_parse_u64(text, &rank) || rank >= world)
        return emu_print_usage_error(
            arguments->command, "--rank %s is no rank of this mesh: its ranks are 0 to %" PRIu32,
            text, world - 1);
    request->has_rank = true;
    request->rank = emu_rank_class_of(&request->books.shapes, (uint32_t)rank);
    return EMU_EXIT_PASS;
}

static int read_node_size(const struct emu_arguments *arguments, uint32_t world, uint32_t *size)
{
    const char *text = emu_arguments_value(arguments, "node-size");
    uint64_t value = 1;
    if (text && !emu_arguments_has(arguments, "survive"))
        return emu_print_usage_error(arguments->command, "--node-size needs --survive");
    if (text && (!emu_parse_u64(text, &value) || value < 1 || value > world))
        return emu_print_usage_error(
            arguments->command, "--node-size %s: 1 to %" PRIu32 " ranks are allowed", text, world);
    *size = (uint32_t)value;
    return EMU_EXIT_PASS;
}

static int check_losses(const struct emu_arguments *arguments, struct emu_account_request *request,
                        uint64_t units)
{
    uint64_t most = emu_survival_most(units, request->survive);
    const char *what = request->survival.node_size > 1 ? "nodes" : "ranks";
    if (request->survive > units)
        return emu_print_usage_error(
            arguments->command, "--survive %" PRIu64 " is more than the mesh has: %" PRIu64 " %s",
            request->survive, units, what);
    if (most < request->survive)
        return emu_print_usage_error(arguments->command,
                                     "--survive %" PRIu64
                                     ": the exact fractions are too long; up to %" PRIu64
                                     " of %" PRIu64 " %s are allowed",
                                     request->survive, most, units, what);
    return EMU_EXIT_PASS;
}

static int read_survival(const struct emu_arguments *arguments, struct emu_account_request *request)
{
    const char *text = emu_arguments_value(arguments, "survive");
    uint32_t node_size = 1;
    int code = read_node_size(arguments, request->config->mesh.world, &node_size);
    if (code != EMU_EXIT_PASS || !text)
        return code;
    if (!emu_parse_u64(text, &request->survive) || !request->survive)
        return emu_print_usage_error(arguments->command,
                                     "--survive '%s': a number of lost ranks, from 1", text);
    struct emu_text error = {0};
    if (emu_survival_find(&request->books, node_size, &error, &request->survival) != EMU_OK)
        code = emu_print_usage_error(arguments->command, "--survive: %s", emu_text_get(&error));
    emu_text_finish(&error);
    if (code != EMU_EXIT_PASS)
        return code;
    return check_losses(arguments, request, request->survival.sets[EMU_STATE_WEIGHTS].units);
}

int emu_account_request_read(const struct emu_arguments *arguments,
                             struct emu_account_request *request)
{
    *request = (struct emu_account_request){0};
    int code = emu_account_config_read(arguments, &request->config);
    if (code == EMU_EXIT_PASS)
        code = read_books(arguments, request);
    if (code == EMU_EXIT_PASS)
        code = read_rank(arguments, request);
    if (code == EMU_EXIT_PASS)
        code = read_survival(arguments, request);
    if (code != EMU_EXIT_PASS)
        emu_account_request_finish(request);
    return code;
}

void emu_account_request_finish(struct emu_account_request *request)
{
    emu_books_finish(&request->books);
    emu_config_destroy(request->config);
    *request = (struct emu_account_request){0};
}
