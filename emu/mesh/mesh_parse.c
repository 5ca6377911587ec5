#include "mesh/notation.h"

#include <string.h>

/* Where we are while a text is read; all columns count from `text`. */
struct reader {
    const char *text;
    struct emu_mesh *mesh;
    struct emu_mesh_error *error;
};

static uint64_t column_of(const struct reader *reader, const char *at)
{
    return (uint64_t)(at - reader->text) + 1;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(const char *name, size_t size)
{
    if (size == 0 || !is_letter(name[0]))
        return false;
    for (size_t i = 1; i < size; i++)
        if (!is_letter(name[i]) && !is_digit(name[i]) && name[i] != '_')
            return false;
    return true;
}

static enum emu_status check_name(const struct reader *reader, struct emu_item name)
{
    struct emu_mesh_error *error = reader->error;
    uint64_t column = column_of(reader, name.start);
    if (!is_name(name.start, name.size)) {
        emu_mesh_complain(error, column,
                          "'%.*s' is no axis name: a letter, then letters, digits or _",
                          emu_item_shown(name), name.start);
        return EMU_EPARSE;
    }
    if (name.size >= EMU_NAME_MAX) {
        emu_mesh_complain(error, column, "the axis name '%.*s...' is longer than %d bytes",
                          emu_item_shown(name), name.start, EMU_NAME_MAX - 1);
        return EMU_EPARSE;
    }
    if (emu_item_equals(name, "world") || emu_item_equals(name, "tied")) {
        emu_mesh_complain(error, column,
                          "'%.*s' is reserved and cannot name an axis (reserved: world, tied)",
                          emu_item_shown(name), name.start);
        return EMU_EPARSE;
    }
    for (uint32_t i = 0; i < reader->mesh->axis_count; i++)
        if (emu_item_equals(name, reader->mesh->axes[i].name)) {
            emu_mesh_complain(error, column, "axis '%.*s' is given twice", emu_item_shown(name),
                              name.start);
            return EMU_EPARSE;
        }
    return EMU_OK;
}

/* Digits only; *value stops growing above the largest world, which is refused anyway. */
static bool read_size(const char *digits, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(digits[i]))
            return false;
        if (sum <= EMU_MESH_MAX_WORLD)
            sum = sum * 10 + (uint64_t)(digits[i] - '0');
    }
    *value = sum;
    return size > 0;
}

/* The size of the axis `name`; *world is multiplied by it. */
static enum emu_status take_size(const struct reader *reader, const char *name,
                                 struct emu_item number, uint64_t *world)
{
    uint64_t column = column_of(reader, number.start);
    uint64_t size;
    if (!read_size(number.start, number.size, &size) || size == 0) {
        emu_mesh_complain(reader->error, column,
                          "axis '%s' has size '%.*s': a whole number of at least 1 is allowed",
                          name, emu_item_shown(number), number.start);
        return EMU_EPARSE;
    }
    if (size > EMU_MESH_MAX_WORLD / *world) {
        emu_mesh_complain(reader->error, column,
                          "axis '%s' of size %.*s makes the mesh larger than 2^31 ranks", name,
                          emu_item_shown(number), number.start);
        return EMU_EPARSE;
    }
    *world *= size;
    return EMU_OK;
}

static enum emu_status take_axis(const struct reader *reader, struct emu_item item, uint64_t *world)
{
    struct emu_mesh *mesh = reader->mesh;
    uint64_t column = column_of(reader, item.start);
    if (item.size == 0) {
        emu_mesh_complain(reader->error, column, "an axis is missing here: write name=size");
        return EMU_EPARSE;
    }
    const char *equals = memchr(item.start, '=', item.size);
    if (!equals) {
        emu_mesh_complain(reader->error, column, "'%.*s' has no size: write name=size, as in dp=2",
                          emu_item_shown(item), item.start);
        return EMU_EPARSE;
    }
    if (mesh->axis_count == EMU_MESH_MAX_AXES) {
        emu_mesh_complain(reader->error, column, "'%.*s' is one axis too many: %d are allowed",
                          emu_item_shown(item), item.start, EMU_MESH_MAX_AXES);
        return EMU_EPARSE;
    }
    size_t before = (size_t)(equals - item.start);
    struct emu_item name = emu_item_trim(item.start, before);
    struct emu_item number = emu_item_trim(equals + 1, item.size - before - 1);
    enum emu_status status = check_name(reader, name);
    if (status != EMU_OK)
        return status;
    struct emu_axis axis = {0};
    memcpy(axis.name, name.start, name.size);
    uint64_t grown = *world;
    status = take_size(reader, axis.name, number, &grown);
    if (status != EMU_OK)
        return status;
    axis.size = (uint32_t)(grown / *world);
    mesh->axes[mesh->axis_count++] = axis;
    *world = grown;
    return EMU_OK;
}

enum emu_status emu_mesh_parse(const char *text, struct emu_mesh *mesh,
                               struct emu_mesh_error *error)
{
    struct emu_mesh made = {0};
    struct reader reader = {.text = text, .mesh = &made, .error = error};
    if (text[strspn(text, " \t")] == '\0') {
        emu_mesh_complain(error, 1, "the mesh is empty: write axes as in dp=2,tp=4");
        return EMU_EPARSE;
    }
    uint64_t world = 1;
    for (const char *at = text; at;) {
        enum emu_status status = take_axis(&reader, emu_item_next(&at), &world);
        if (status != EMU_OK)
            return status;
    }
    uint32_t stride = 1;
    for (uint32_t i = made.axis_count; i-- > 0;) {
        made.axes[i].stride = stride;
        stride *= made.axes[i].size;
    }
    made.world = (uint32_t)world;
    *mesh = made;
    return EMU_OK;
}
