#include "cli/mesh_print.h"

#include <string.h>

/* More ranks are a table's business. */
#define PICTURE_MAX_WORLD 1024

/* A grid of cells for two axes; all other axes number its blocks. */
struct picture {
    const struct emu_mesh *mesh;
    FILE *out;
    int across, down; /* axis indices; -1: there is no such axis */
    struct emu_axes outer;
    uint32_t cell;  /* width of a cell with its gap */
    uint32_t left;  /* width of the row labels */
    uint32_t used;  /* width of a block's grid */
    uint32_t width; /* of a block with its gap */
};

static uint32_t digits_of(uint32_t value)
{
    uint32_t digits = 1;
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

static uint32_t name_width(const struct emu_mesh *mesh, int axis)
{
    return axis < 0 ? 0 : (uint32_t)strlen(mesh->axes[axis].name);
}

static uint32_t size_of(const struct emu_mesh *mesh, int axis)
{
    return axis < 0 ? 1 : mesh->axes[axis].size;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The ranks of one block, row by row. */
static struct emu_group block_group(const struct picture *picture, uint32_t block)
{
    struct emu_axes inner = {0};
    if (picture->down >= 0)
        inner.index[inner.count++] = (uint8_t)picture->down;
    if (picture->across >= 0)
        inner.index[inner.count++] = (uint8_t)picture->across;
    return emu_group_nth(picture->mesh, &inner, block);
}

/* "dp 1, cp 0" of the block's place; returns its width. out NULL: only the width. */
static uint32_t put_title(const struct picture *picture, uint32_t block, FILE *out)
{
    struct emu_group group = block_group(picture, block);
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(picture->mesh, emu_group_member(&group, 0), coords);
    int width = 0;
    for (uint32_t i = 0; i < picture->outer.count; i++) {
        char part[EMU_NAME_MAX + 16];
        uint32_t axis = picture->outer.index[i];
        width += snprintf(part, sizeof part, "%s%s %u", i ? ", " : "",
                          picture->mesh->axes[axis].name, coords[axis]);
        if (out)
            fputs(part, out);
    }
    return (uint32_t)width;
}

static void plan(struct picture *picture)
{
    const struct emu_mesh *mesh = picture->mesh;
    picture->across = picture->down = -1;
    for (int i = (int)mesh->axis_count - 1; i >= 0; i--) {
        if (mesh->axes[i].size == 1)
            continue;
        if (picture->across < 0)
            picture->across = i;
        else if (picture->down < 0)
            picture->down = i;
    }
    for (int i = 0; i < picture->down; i++)
        if (mesh->axes[i].size > 1)
            picture->outer.index[picture->outer.count++] = (uint8_t)i;
    uint32_t columns = size_of(mesh, picture->across);
    uint32_t rows = size_of(mesh, picture->down);
    picture->cell = 2 + digits_of(mesh->world - 1);
    uint32_t row_label = name_width(mesh, picture->down) + (rows > 1 ? 1 + digits_of(rows - 1) : 0);
    picture->left = larger(row_label, name_width(mesh, picture->across));
    picture->used = picture->left + 2 + columns * picture->cell;
    picture->width = picture->used;
    if (picture->outer.count > 0)
        picture->width = larger(picture->width, put_title(picture, 0, NULL) + 2) + 4;
}

/* Line 0: the title, if blocks have one; then the head; then the rows. */
static void put_head(const struct picture *picture)
{
    const struct emu_mesh *mesh = picture->mesh;
    fprintf(picture->out, "%*s  ", (int)picture->left, mesh->axes[picture->across].name);
    for (uint32_t i = 0; i < mesh->axes[picture->across].size; i++)
        fprintf(picture->out, "%*u", (int)picture->cell, i);
}

static void put_row(const struct picture *picture, uint32_t block, uint32_t row)
{
    const struct emu_mesh *mesh = picture->mesh;
    char label[EMU_NAME_MAX + 16] = "";
    if (picture->down >= 0)
        snprintf(label, sizeof label, "%s %u", mesh->axes[picture->down].name, row);
    fprintf(picture->out, "%*s |", (int)picture->left, label);
    struct emu_group group = block_group(picture, block);
    uint32_t columns = size_of(mesh, picture->across);
    for (uint32_t i = 0; i < columns; i++)
        fprintf(picture->out, "%*u", (int)picture->cell,
                emu_group_member(&group, row * columns + i));
}

/* One line of several blocks side by side. */
static void put_line(const struct picture *picture, uint32_t first, uint32_t count, int line)
{
    fputs("  ", picture->out);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = picture->used;
        if (line == -2)
            width = put_title(picture, first + i, picture->out);
        else if (line == -1)
            put_head(picture);
        else
            put_row(picture, first + i, (uint32_t)line);
        if (i + 1 < count)
            fprintf(picture->out, "%*s", (int)(picture->width - width), "");
    }
    fputc('\n', picture->out);
}

/* Blocks on one line, of those that fit: whole axes where that is possible. */
static uint32_t blocks_on_a_line(const struct picture *picture, uint32_t fit)
{
    uint32_t whole = 1;
    for (uint32_t i = picture->outer.count; i-- > 0;) {
        uint32_t size = picture->mesh->axes[picture->outer.index[i]].size;
        if (size > fit / whole)
            break;
        whole *= size;
    }
    return whole > 1 ? whole : fit;
}

void emu_mesh_print_picture(const struct emu_mesh *mesh, FILE *out, uint32_t columns)
{
    if (mesh->world == 1 || mesh->world > PICTURE_MAX_WORLD)
        return;
    struct picture picture = {.mesh = mesh, .out = out};
    plan(&picture);
    if (picture.width + 2 > columns)
        return;
    uint32_t rows = size_of(mesh, picture.down);
    uint32_t blocks = mesh->world / rows / size_of(mesh, picture.across);
    uint32_t side_by_side = blocks_on_a_line(&picture, (columns - 2) / picture.width);
    for (uint32_t first = 0; first < blocks; first += side_by_side) {
        uint32_t left = blocks - first;
        uint32_t count = left < side_by_side ? left : side_by_side;
        for (int line = picture.outer.count ? -2 : -1; line < (int)rows; line++)
            put_line(&picture, first, count, line);
        fputc('\n', out);
    }
}
