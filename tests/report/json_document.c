#include "report/json_writer.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static struct emu_text text;
static struct emu_json json;

static void open_writer(void)
{
    text = (struct emu_text){0};
    emu_json_init_text(&json, &text);
}

static void close_writer(void)
{
    emu_text_finish(&text);
}

TestSuite(report_json, .init = open_writer, .fini = close_writer);

/* End the document and read it back with another reader. */
static json_t *read_back(void)
{
    cr_assert(emu_json_finish(&json));
    json_error_t error;
    json_t *root = json_loads(emu_text_get(&text), JSON_DECODE_ANY, &error);
    cr_assert_not_null(root, "%s in: %s", error.text, emu_text_get(&text));
    return root;
}

Test(report_json, sets_commas_lines_and_indentation)
{
    emu_json_object_begin(&json);
    emu_json_put_u64(&json, "a", 1);
    emu_json_key(&json, "rows");
    emu_json_array_begin(&json);
    for (int i = 0; i < 2; i++) {
        emu_json_object_begin(&json);
        emu_json_put_i64(&json, "x", -i);
        emu_json_put_bool(&json, "y", i == 0);
        emu_json_object_end(&json);
    }
    emu_json_array_end(&json);
    emu_json_key(&json, "none");
    emu_json_array_begin(&json);
    emu_json_array_end(&json);
    emu_json_object_end(&json);
    cr_assert(emu_json_finish(&json));
    cr_assert_str_eq(emu_text_get(&text), "{\n"
                                          "  \"a\": 1,\n"
                                          "  \"rows\": [\n"
                                          "    {\"x\": 0, \"y\": true},\n"
                                          "    {\"x\": -1, \"y\": false}\n"
                                          "  ],\n"
                                          "  \"none\": []\n"
                                          "}\n");
}

Test(report_json, begins_a_report_as_agreed)
{
    emu_json_report_begin(&json, "mesh");
    emu_json_object_end(&json);
    json_t *root = read_back();
    cr_assert_not_null(json_object_get(root, "meshemu"));
    cr_assert_eq(json_integer_value(json_object_get(root, "schema")), 1);
    cr_assert_str_eq(json_string_value(json_object_get(root, "command")), "mesh");
    cr_assert_eq(strncmp(emu_text_get(&text), "{\n  \"meshemu\"", 13), 0);
    json_decref(root);
}

struct spelling {
    char value[32];
    char written[64];
};

ParameterizedTestParameters(report_json, escapes_and_repairs_strings)
{
    static struct spelling rows[] = {
        {"plain", "\"plain\""},
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\n\t\r", "\"\\n\\t\\r\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b",
         "\"a\\ufffdb\""},
        {"\xc3", "\"\\ufffd\""},                                  /* cut short */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},                       /* cut short: a byte each */
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},                       /* NUL, longer than it may be */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* half a surrogate pair */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* above U+10FFFF */
    };
    return cr_make_param_array(struct spelling, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct spelling *row, report_json, escapes_and_repairs_strings)
{
    emu_json_string(&json, row->value);
    cr_assert_str_eq(emu_text_get(&text), row->written);
    json_decref(read_back());
}

Test(report_json, writes_numbers_exactly)
{
    emu_json_array_begin(&json);
    emu_json_u64(&json, 0);
    emu_json_u64(&json, UINT64_MAX);
    emu_json_i64(&json, INT64_MIN);
    emu_json_f64(&json, 0.1);
    emu_json_f64(&json, 1e-8);
    emu_json_f64(&json, NAN);
    emu_json_f64(&json, -INFINITY);
    emu_json_array_end(&json);
    json.line_depth = 0;
    cr_assert_str_eq(emu_text_get(&text),
                     "[\n  0,\n  18446744073709551615,\n  -9223372036854775808,"
                     "\n  0.1,\n  1e-08,\n  null,\n  null\n]");
}

Test(report_json, writes_null_for_no_string_and_takes_raw_values)
{
    emu_json_object_begin(&json);
    emu_json_put_string(&json, "none", NULL);
    emu_json_key(&json, "raw");
    emu_json_raw(&json, "{\"a\": [1, 2]}");
    emu_json_object_end(&json);
    json_t *root = read_back();
    cr_assert(json_is_null(json_object_get(root, "none")));
    cr_assert_eq(json_array_size(json_object_get(json_object_get(root, "raw"), "a")), 2u);
    json_decref(root);
}

Test(report_json, one_line_where_no_depth_has_lines)
{
    json.line_depth = 0;
    emu_json_object_begin(&json);
    emu_json_key(&json, "a");
    emu_json_array_begin(&json);
    emu_json_u64(&json, 1);
    emu_json_bool(&json, true);
    emu_json_array_end(&json);
    emu_json_put_f64(&json, "b", 2.5);
    emu_json_object_end(&json);
    cr_assert(emu_json_finish(&json));
    cr_assert_str_eq(emu_text_get(&text), "{\"a\": [1, true], \"b\": 2.5}\n");
}

Test(report_json, nests_to_its_limit)
{
    for (int i = 0; i < EMU_JSON_MAX_DEPTH; i++)
        emu_json_array_begin(&json);
    for (int i = 0; i < EMU_JSON_MAX_DEPTH; i++)
        emu_json_array_end(&json);
    json_decref(read_back());
}

Test(report_json, remembers_a_write_that_failed)
{
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    emu_json_init_file(&json, full);
    emu_json_array_begin(&json);
    emu_json_u64(&json, 1);
    cr_assert(json.failed);
    emu_json_array_end(&json);
    cr_assert_not(emu_json_finish(&json));
    fclose(full);
}

Test(report_json, remembers_that_memory_ran_out)
{
    emu_json_array_begin(&json);
    text.failed = true;
    emu_json_u64(&json, 1);
    emu_json_array_end(&json);
    cr_assert_not(emu_json_finish(&json));
}
