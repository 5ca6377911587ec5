#include "cli/mesh_print.h"

#include <string.h>

/* What all parts of the text need. */
struct page {
    const struct emu_mesh_request *request;
    FILE *out;
    uint32_t rows; /* limit of a list, UINT32_MAX: none */
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void put_left_out(const struct page *page, uint32_t count, const char *what)
{
    if (count > 0)
        fprintf(page->out, "  ... %u more %s (--rank R shows one rank, --json FILE writes all)\n",
                count, what);
}

static void put_mesh(const struct page *page)
{
    const struct emu_mesh *mesh = page->request->mesh;
    fputs("mesh ", page->out);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        fprintf(page->out, "%s%s=%u", i ? "," : "", mesh->axes[i].name, mesh->axes[i].size);
    fprintf(page->out, ": %u rank%s%s\n\n", mesh->world, mesh->world == 1 ? "" : "s",
            mesh->rank_at ? ", arranged explicitly" : "");
}

/* Width of an axis' column: its name or its largest coordinate. */
static int axis_width(const struct emu_axis *axis)
{
    int digits = snprintf(NULL, 0, "%u", axis->size - 1);
    int name = (int)strlen(axis->name);
    return 2 + (digits > name ? digits : name);
}

static void put_rank(const struct page *page, uint32_t rank, int width)
{
    const struct emu_mesh *mesh = page->request->mesh;
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coords);
    fprintf(page->out, "  %*u", width, rank);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        fprintf(page->out, "%*u", axis_width(&mesh->axes[i]), coords[i]);
    fputc('\n', page->out);
}

static void put_ranks(const struct page *page)
{
    const struct emu_mesh_request *request = page->request;
    const struct emu_mesh *mesh = request->mesh;
    int width = snprintf(NULL, 0, "%u", mesh->world - 1);
    width = width < 4 ? 4 : width;
    fprintf(page->out, "  %*s", width, "rank");
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        fprintf(page->out, "%*s", axis_width(&mesh->axes[i]), mesh->axes[i].name);
    fputc('\n', page->out);
    if (request->has_rank) {
        put_rank(page, request->rank, width);
        return;
    }
    uint32_t shown = least(mesh->world, page->rows);
    for (uint32_t rank = 0; rank < shown && !ferror(page->out); rank++)
        put_rank(page, rank, width);
    put_left_out(page, mesh->world - shown, "ranks");
}

static void put_group(const struct page *page, const struct emu_group *group)
{
    uint32_t shown = least(group->size, page->rows);
    fputs("  [", page->out);
    for (uint32_t i = 0; i < shown && !ferror(page->out); i++)
        fprintf(page->out, "%s%u", i ? " " : "", emu_group_member(group, i));
    if (shown < group->size)
        fprintf(page->out, " ... %u more", group->size - shown);
    fputs("]\n", page->out);
}

/* "groups over dp: 4 of 2 ranks", then each; with --rank its own alone. */
static void put_groups(const struct page *page, const char *name, const struct emu_axes *axes)
{
    const struct emu_mesh_request *request = page->request;
    uint32_t size = emu_axes_group_size(request->mesh, axes);
    uint32_t count = emu_axes_group_count(request->mesh, axes);
    const char *ranks = size == 1 ? "rank" : "ranks";
    if (request->has_rank) {
        struct emu_group own = emu_group_of(request->mesh, axes, request->rank);
        fprintf(page->out, "\ngroup over %s: member %u of %u %s\n", name,
                (uint32_t)emu_group_index(&own, request->rank), size, ranks);
        put_group(page, &own);
        return;
    }
    fprintf(page->out, "\ngroups over %s: %u of %u %s\n", name, count, size, ranks);
    uint32_t shown = least(count, page->rows);
    for (uint32_t i = 0; i < shown && !ferror(page->out); i++) {
        struct emu_group group = emu_group_nth(request->mesh, axes, i);
        put_group(page, &group);
    }
    put_left_out(page, count - shown, "groups");
}

void emu_mesh_print_text(const struct emu_mesh_request *request, FILE *out, uint32_t rows,
                         uint32_t columns)
{
    struct page page = {.request = request, .out = out, .rows = rows ? rows : UINT32_MAX};
    put_mesh(&page);
    if (!request->has_rank)
        emu_mesh_print_picture(request->mesh, out, columns);
    put_ranks(&page);
    for (uint32_t i = 0; i < request->mesh->axis_count && !ferror(out); i++) {
        struct emu_axes axis = {.count = 1, .index = {(uint8_t)i}};
        put_groups(&page, request->mesh->axes[i].name, &axis);
    }
    if (request->over_text)
        put_groups(&page, request->over_text, &request->over);
}
