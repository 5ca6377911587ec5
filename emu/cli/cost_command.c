#include "cli/cost_command.h"

#include "base/number.h"
#include "cli/account_request.h"
#include "cli/cost_print.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "report/json_output.h"

#include <inttypes.h>
#include <string.h>

/* "300,2": gigabytes per second and microseconds. */
static bool read_pair(const char *text, double *rate, double *delay)
{
    char first[EMU_NUMBER_MAX * 2];
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(comma - text));
    first[comma - text] = '\0';
    if (!emu_parse_f64(first, rate) || !emu_parse_f64(comma + 1, delay))
        return false;
    *rate *= 1e9;
    *delay *= 1e-6;
    return *rate > 0 && *rate < 1e300 && *delay >= 0;
}

static int read_link(const struct emu_arguments *arguments, const char *name, double *rate,
                     double *delay)
{
    const char *text = emu_arguments_value(arguments, name);
    if (!text)
        return emu_print_usage_error(arguments->command,
                                     "--%s is needed: GB/s and microseconds, as in --%s %s", name,
                                     name, !strcmp(name, "intra") ? "300,2" : "25,5");
    if (read_pair(text, rate, delay))
        return EMU_EXIT_PASS;
    return emu_print_usage_error(
        arguments->command, "--%s '%s': GB/s above zero and microseconds, as in 300,2", name, text);
}

static int read_algorithm(const struct emu_arguments *arguments, struct emu_links *links)
{
    static const char *const names[] = {"ring", "tree", "two-level"};
    const char *text = emu_arguments_value(arguments, "algorithm");
    links->algorithm = EMU_LINK_RING;
    for (unsigned i = 0; text && i < 3; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        links->algorithm = i;
        return EMU_EXIT_PASS;
    }
    if (!text)
        return EMU_EXIT_PASS;
    return emu_print_usage_error(arguments->command,
                                 "--algorithm '%s': ring, tree or two-level are there", text);
}

static int read_links(const struct emu_arguments *arguments, struct emu_links *links)
{
    const char *text = emu_arguments_value(arguments, "node");
    uint64_t node;
    if (!text)
        return emu_print_usage_error(arguments->command,
                                     "--node is needed: the ranks of a node, as in --node 8");
    if (!emu_parse_u64(text, &node) || node < 1 || node > EMU_MESH_MAX_WORLD)
        return emu_print_usage_error(arguments->command, "--node '%s': a number of ranks, from 1",
                                     text);
    links->node = (uint32_t)node;
    int code = read_link(arguments, "intra", &links->intra, &links->intra_delay);
    if (code == EMU_EXIT_PASS)
        code = read_link(arguments, "inter", &links->inter, &links->inter_delay);
    return code == EMU_EXIT_PASS ? read_algorithm(arguments, links) : code;
}

static int write_json(const struct emu_arguments *arguments,
                      const struct emu_placements *placements)
{
    struct emu_text error = {0};
    struct emu_json_output output;
    enum emu_status status =
        emu_json_output_open(&output, emu_arguments_value(arguments, "json"), &error);
    if (status == EMU_OK) {
        if (!emu_cost_write_json(placements, output.stream) && !ferror(output.stream)) {
            emu_json_output_discard(&output);
            return emu_print_no_memory(arguments->command);
        }
        status = emu_json_output_commit(&output, &error);
    }
    int code = status == EMU_OK ? EMU_EXIT_PASS
                                : emu_print_refusal(arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int print(const struct emu_arguments *arguments, const struct emu_placements *placements)
{
    const char *json = emu_arguments_value(arguments, "json");
    int code = json ? write_json(arguments, placements) : EMU_EXIT_PASS;
    if (code != EMU_EXIT_PASS || (json && !strcmp(json, "-")))
        return code;
    if (!emu_cost_print_text(placements, stdout))
        return emu_print_no_memory(arguments->command);
    return emu_print_flush();
}

static int price(const struct emu_arguments *arguments, const struct emu_books *books,
                 const struct emu_links *links)
{
    struct emu_placements placements;
    struct emu_text error = {0};
    enum emu_status status = emu_placements_make(books, links, &error, &placements);
    int code;
    if (status == EMU_OK) {
        code = print(arguments, &placements);
        emu_placements_finish(&placements);
    } else if (status == EMU_ENOMEM) {
        code = emu_print_no_memory(arguments->command);
    } else {
        code = emu_print_usage_error(arguments->command, "%s", emu_text_get(&error));
    }
    emu_text_finish(&error);
    return code;
}

static int run(const struct emu_arguments *arguments)
{
    struct emu_links links;
    struct emu_config *config;
    int code = read_links(arguments, &links);
    if (code == EMU_EXIT_PASS)
        code = emu_account_config_read(arguments, &config);
    if (code != EMU_EXIT_PASS)
        return code;
    struct emu_books books;
    struct emu_text diagnostics = {0};
    enum emu_status status = emu_books_make(config, &diagnostics, &books);
    fputs(emu_text_get(&diagnostics), stderr);
    emu_text_finish(&diagnostics);
    if (status == EMU_OK) {
        code = price(arguments, &books, &links);
        emu_books_finish(&books);
    } else {
        code = status == EMU_ENOMEM ? emu_print_no_memory(arguments->command) : emu_exit_of(status);
    }
    emu_config_destroy(config);
    return code;
}

static const struct emu_option options[] = {
    {"node", "G", "ranks of a node; nodes are consecutive ranks", false},
    {"intra", "GBPS,US", "rate and delay inside a node, as in --intra 300,2", false},
    {"inter", "GBPS,US", "rate and delay between nodes, as in --inter 25,5", false},
    {"algorithm", "NAME", "of collectives: ring (default), tree or two-level", false},
    {"json", "FILE|-", "write the report as JSON; - is standard output", false},
    {"help", NULL, "print this help", false},
};

const struct emu_command emu_cost_command = {
    "cost",
    "CONFIG",
    "price every order of the axes on given nodes, best first",
    "For each order it says which axes cross nodes, the bytes that a rank sends over\n"
    "each axis in a step, and how long that takes with nothing overlapped. Then at\n"
    "which rate between nodes and which number of microbatches another order would\n"
    "be best. CONFIG needs a mesh and a model; emu/account/flow.h has the formulas.",
    options,
    sizeof options / sizeof options[0],
    run,
};
