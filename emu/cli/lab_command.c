#include "cli/lab_command.h"

#include "cli/exit_code.h"
#include "cli/lab_prompt.h"
#include "cli/print.h"
#include "report/json_output.h"
#include "report/json_writer.h"

#include <string.h>

/* The mesh comes first: it says how many replicas there are. */
static int read_lab(const struct emu_arguments *arguments, struct emu_lab *lab)
{
    static const char *const keys[] = {"mesh", "n", "k", "majority", "predict"};
    char error[EMU_LAB_ERROR_MAX];
    emu_lab_reset(lab);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = emu_arguments_value(arguments, keys[i]);
        if (value && !emu_lab_set(lab, keys[i], value, error))
            return emu_print_usage_error(arguments->command, "--%s %s: %s", keys[i], value, error);
    }
    if (emu_arguments_has(arguments, "json") && !emu_arguments_has(arguments, "step"))
        return emu_print_usage_error(arguments->command, "--json needs --step");
    return EMU_EXIT_PASS;
}

static void put_ownership(struct emu_json *json, const struct emu_lab *lab,
                          const struct emu_lab_result *result)
{
    emu_json_key(json, "ownership");
    if (!lab->has_mesh) {
        emu_json_null(json);
        return;
    }
    emu_json_object_begin(json);
    emu_json_key(json, "axes");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < lab->mesh.axis_count; i++) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "name", lab->mesh.axes[i].name);
        emu_json_put_u64(json, "size", lab->mesh.axes[i].size);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
    emu_json_put_u64(json, "shards", result->shards);
    emu_json_put_u64(json, "distinct_alive", result->shards_alive);
    emu_json_key(json, "lost");
    emu_json_array_begin(json);
    for (uint32_t shard = 0; shard < result->shards; shard++) {
        char name[EMU_LAB_SHARD_MAX];
        uint32_t copies;
        emu_lab_shard_name(lab, shard, name);
        if (!emu_lab_holders(lab, result, shard, &copies))
            emu_json_string(json, name);
    }
    emu_json_array_end(json);
    emu_json_object_end(json);
}

static bool put_result(const struct emu_lab *lab, const struct emu_lab_result *result, FILE *out)
{
    struct emu_json json;
    emu_json_init_file(&json, out);
    emu_json_report_begin(&json, "lab");
    emu_json_put_u64(&json, "n", lab->n);
    emu_json_put_u64(&json, "k", lab->k);
    emu_json_put_u64(&json, "up", result->up);
    emu_json_put_u64(&json, "majority", lab->majority);
    emu_json_put_bool(&json, "has_majority", result->up >= lab->majority);
    emu_json_key(&json, "prediction");
    if (lab->has_prediction) {
        emu_json_object_begin(&json);
        emu_json_put_u64(&json, "up", lab->prediction);
        emu_json_put_bool(&json, "right", lab->prediction == result->up);
        emu_json_object_end(&json);
    } else {
        emu_json_null(&json);
    }
    emu_json_key(&json, "pids");
    emu_json_array_begin(&json);
    for (uint32_t i = 0; i < result->n; i++)
        emu_json_i64(&json, result->pids[i]);
    emu_json_array_end(&json);
    put_ownership(&json, lab, result);
    emu_json_object_end(&json);
    return emu_json_finish(&json);
}

static int write_json(const struct emu_arguments *arguments, const struct emu_lab *lab,
                      const struct emu_lab_result *result)
{
    struct emu_text error = {0};
    struct emu_json_output output;
    enum emu_status status =
        emu_json_output_open(&output, emu_arguments_value(arguments, "json"), &error);
    if (status == EMU_OK) {
        bool whole = put_result(lab, result, output.stream);
        status = emu_json_output_commit(&output, &error); /* fails where a write did */
        status = status == EMU_OK && !whole ? EMU_ESYSTEM : status;
    }
    int code = status == EMU_OK ? EMU_EXIT_PASS
                                : emu_print_refusal(arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int take_step(const struct emu_arguments *arguments, struct emu_lab *lab)
{
    struct emu_lab_result result;
    struct emu_reason reason;
    const char *json = emu_arguments_value(arguments, "json");
    if (emu_lab_step(lab, &result, &reason) != EMU_OK)
        return emu_print_refusal(arguments->command, reason.text);
    int code = json ? write_json(arguments, lab, &result) : EMU_EXIT_PASS;
    if (code != EMU_EXIT_PASS || (json && !strcmp(json, "-")))
        return code;
    emu_lab_print_result(lab, &result, stdout);
    return emu_print_flush();
}

static int run(const struct emu_arguments *arguments)
{
    struct emu_lab lab = {0};
    int code = read_lab(arguments, &lab);
    if (code != EMU_EXIT_PASS)
        return code;
    if (emu_arguments_has(arguments, "step"))
        return take_step(arguments, &lab);
    code = emu_lab_prompt(&lab);
    return code == EMU_EXIT_PASS ? emu_print_flush() : emu_print_no_memory(arguments->command);
}

static const struct emu_option options[] = {
    {"n", "N", "replicas, 1 to 1024 (default 4)", false},
    {"k", "K", "how many of them are killed (default 0)", false},
    {"predict", "UP", "how many will be up", false},
    {"majority", "M", "how many are needed (default: more than half)", false},
    {"step", NULL, "take one step and end, instead of a prompt", false},
    {"mesh", "AXES", "also say what the survivors hold: --mesh dp=2,tp=2", false},
    {"json", "FILE|-", "write the step as JSON; - is standard output", false},
    {"help", NULL, "print this help", false},
};

const struct emu_command emu_lab_command = {
    "lab",
    NULL,
    "count replicas that are up, beside what they own",
    "Forks N real processes, kills K of them and counts those that still answer;\n"
    "judges a prediction and a majority. That is availability. With --mesh it shows\n"
    "beside it what the count does not say: how many different shards the survivors\n"
    "hold. Without --step it is a prompt, where help lists the commands.",
    options,
    sizeof options / sizeof options[0],
    run,
};
