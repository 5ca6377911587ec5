#include "cli/bench_request.h"

#include "base/number.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "config/duration.h"
#include "os/cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_RANGE "8:1M"
#define DEFAULT_TIME_NS UINT64_C(50000000)
#define MOST_WARMUP 1000000

/* Names of `count` values, separated by blanks. */
static void list_names(struct emu_text *text, const char *(*name_of)(unsigned), unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        emu_text_printf(text, "%s%s", i ? " " : "", name_of(i));
}

static const char *op_name(unsigned i)
{
    return emu_bench_op_name(emu_bench_ops[i]);
}

static const char *dtype_name(unsigned i)
{
    return emu_dtype_name((enum emu_dtype)i);
}

static const char *reduce_name(unsigned i)
{
    return emu_op_name((enum emu_op)i);
}

/* The value of an option that is one of `count` names; `fallback` where it was not given. */
static int read_name(const struct emu_arguments *arguments, const char *option,
                     const char *(*name_of)(unsigned), unsigned count, unsigned *value)
{
    const char *given = emu_arguments_value(arguments, option);
    struct emu_text names = {0};
    if (!given)
        return EMU_EXIT_PASS;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(name_of(i), given) != 0)
            continue;
        *value = i;
        return EMU_EXIT_PASS;
    }
    list_names(&names, name_of, count);
    int code = emu_print_usage_error(arguments->command, "--%s '%s': one of %s", option, given,
                                     emu_text_get(&names));
    emu_text_finish(&names);
    return code;
}

/* An option's whole number; *value stays where it was not given. */
static int read_number(const struct emu_arguments *arguments, const char *option, uint64_t least,
                       uint64_t most, uint64_t *value)
{
    const char *given = emu_arguments_value(arguments, option);
    uint64_t number;
    if (!given)
        return EMU_EXIT_PASS;
    if (!emu_parse_u64(given, &number) || number < least || number > most)
        return emu_print_usage_error(arguments->command,
                                     "--%s '%s': a whole number from %" PRIu64 " to %" PRIu64,
                                     option, given, least, most);
    *value = number;
    return EMU_EXIT_PASS;
}

static int read_mesh(const struct emu_arguments *arguments, struct emu_mesh *mesh)
{
    const char *axes = emu_arguments_value(arguments, "mesh");
    struct emu_mesh_error error;
    char plain[32];
    uint64_t ranks = emu_cpu_count() > 2 ? emu_cpu_count() : 2;
    if (axes && emu_arguments_has(arguments, "ranks"))
        return emu_print_usage_error(arguments->command, "--mesh has its ranks: leave out --ranks");
    int code = read_number(arguments, "ranks", 1, EMU_MESH_MAX_WORLD, &ranks);
    if (code != EMU_EXIT_PASS)
        return code;
    snprintf(plain, sizeof plain, "rank=%" PRIu64, ranks);
    enum emu_status status = emu_mesh_parse(axes ? axes : plain, mesh, &error);
    if (status == EMU_ENOMEM)
        return emu_print_no_memory(arguments->command);
    if (status == EMU_OK)
        return EMU_EXIT_PASS;
    return emu_print_usage_error(arguments->command, "--mesh '%s', column %" PRIu32 ": %s",
                                 axes ? axes : plain, error.column, error.message);
}

static int read_over(const struct emu_arguments *arguments, struct emu_bench_session *session)
{
    const char *over = emu_arguments_value(arguments, "over");
    struct emu_mesh_error error;
    struct emu_axes axes;
    emu_roster_init(&session->roster, &session->mesh);
    session->request.roster = &session->roster;
    if (!over || emu_roster_find(&session->roster, over, &session->request.family) == EMU_OK)
        return EMU_EXIT_PASS;
    if (emu_axes_parse(&session->mesh, over, &axes, &error) != EMU_OK)
        return emu_print_usage_error(
            arguments->command, "--over '%s', column %" PRIu32 ": %s; world or axes of the mesh",
            over, error.column, error.message);
    enum emu_status status = emu_roster_add_axes(&session->roster, &axes, &session->request.family);
    return status == EMU_OK ? EMU_EXIT_PASS : emu_print_no_memory(arguments->command);
}

static int add_op(const struct emu_arguments *arguments, struct emu_bench_request *request,
                  const char *name)
{
    const char *names[EMU_BENCH_OPS];
    struct emu_text all = {0};
    enum emu_kind op;
    int code;
    if (!emu_bench_op_find(name, &op)) {
        for (unsigned i = 0; i < EMU_BENCH_OPS; i++)
            names[i] = op_name(i);
        const char *near = emu_suggest(name, names, EMU_BENCH_OPS);
        list_names(&all, op_name, EMU_BENCH_OPS);
        code = emu_print_usage_error(arguments->command, "unknown op '%s'%s%s%s; there are %s",
                                     name, near ? "; did you mean " : "", near ? near : "",
                                     near ? "?" : "", emu_text_get(&all));
        emu_text_finish(&all);
        return code;
    }
    for (uint32_t i = 0; i < request->op_count; i++)
        if (request->ops[i] == op)
            return emu_print_usage_error(arguments->command, "%s is given twice", name);
    if (emu_bench_obstacle(request, op))
        return emu_print_usage_error(arguments->command, "%s %s", name,
                                     emu_bench_obstacle(request, op));
    request->ops[request->op_count++] = op;
    return EMU_EXIT_PASS;
}

/* Those asked for, or all that can run. */
static int read_ops(const struct emu_arguments *arguments, struct emu_bench_request *request)
{
    int code = EMU_EXIT_PASS;
    for (size_t i = 0; i < arguments->operand_count && code == EMU_EXIT_PASS; i++)
        code = add_op(arguments, request, arguments->operands[i]);
    if (arguments->operand_count > 0)
        return code;
    for (unsigned i = 0; i < EMU_BENCH_OPS; i++)
        if (!emu_bench_obstacle(request, emu_bench_ops[i]))
            request->ops[request->op_count++] = emu_bench_ops[i];
    return EMU_EXIT_PASS;
}

static int read_what(const struct emu_arguments *arguments, struct emu_bench_request *request)
{
    unsigned dtype = EMU_F32, reduce = EMU_SUM;
    int code = read_name(arguments, "dtype", dtype_name, EMU_FIELD61 + 1, &dtype);
    if (code == EMU_EXIT_PASS)
        code = read_name(arguments, "reduce", reduce_name, EMU_OP_COUNT, &reduce);
    if (code != EMU_EXIT_PASS)
        return code;
    request->dtype = (enum emu_dtype)dtype;
    request->reduce = (enum emu_op)reduce;
    request->in_place = emu_arguments_has(arguments, "in-place");
    request->pin = emu_arguments_has(arguments, "pin");
    request->checksums = emu_arguments_has(arguments, "checksums");
    request->launch = emu_arguments_has(arguments, "launch");
    uint64_t coefficients = 0;
    code = read_number(arguments, "coefficients", 0, EMU_BENCH_MAX_COEFFICIENTS, &coefficients);
    if (code != EMU_EXIT_PASS)
        return code;
    request->coefficients = (uint32_t)coefficients;
    const char *bytes = emu_arguments_value(arguments, "bytes");
    if (!emu_byte_range_parse(bytes ? bytes : DEFAULT_RANGE, &request->range))
        return emu_print_usage_error(arguments->command, "--bytes '%s': %s", bytes,
                                     EMU_BYTE_RANGE_HINT);
    return EMU_EXIT_PASS;
}

static int read_root(const struct emu_arguments *arguments, struct emu_bench_request *request)
{
    uint32_t size = request->roster->families[request->family].group_size;
    uint64_t root = 0;
    request->root = EMU_BENCH_ROOT_MOVES;
    if (!emu_arguments_has(arguments, "root"))
        return EMU_EXIT_PASS;
    int code = read_number(arguments, "root", 0, size - 1, &root);
    request->root = (int64_t)root;
    return code;
}

static int read_effort(const struct emu_arguments *arguments, struct emu_bench_request *request)
{
    uint64_t warmup = 0;
    const char *time = emu_arguments_value(arguments, "time");
    request->time_ns = DEFAULT_TIME_NS;
    request->warmup = -1;
    if (time && emu_arguments_has(arguments, "iterations"))
        return emu_print_usage_error(arguments->command, "--iterations or --time, not both");
    if (time && (!emu_duration_parse(time, &request->time_ns) || request->time_ns == 0))
        return emu_print_usage_error(arguments->command,
                                     "--time '%s': above zero, " EMU_DURATION_HINT, time);
    int code =
        read_number(arguments, "iterations", 1, EMU_BENCH_MAX_ITERATIONS, &request->iterations);
    if (code == EMU_EXIT_PASS)
        code = read_number(arguments, "warmup", 0, MOST_WARMUP, &warmup);
    if (code == EMU_EXIT_PASS && emu_arguments_has(arguments, "warmup"))
        request->warmup = (int64_t)warmup;
    return code;
}

int emu_bench_session_read(const struct emu_arguments *arguments, struct emu_bench_session *session)
{
    *session = (struct emu_bench_session){0};
    int code = read_mesh(arguments, &session->mesh);
    if (code != EMU_EXIT_PASS)
        return code;
    code = read_over(arguments, session);
    if (code == EMU_EXIT_PASS)
        code = read_what(arguments, &session->request);
    if (code == EMU_EXIT_PASS)
        code = read_root(arguments, &session->request);
    if (code == EMU_EXIT_PASS)
        code = read_effort(arguments, &session->request);
    if (code == EMU_EXIT_PASS)
        code = read_ops(arguments, &session->request);
    if (code != EMU_EXIT_PASS)
        emu_bench_session_finish(session);
    return code;
}

void emu_bench_session_finish(struct emu_bench_session *session)
{
    emu_roster_finish(&session->roster);
    emu_mesh_finish(&session->mesh);
}
