#include "report/traffic_map.h"

#include "base/wide.h"
#include "mesh/beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 10 /* pairs of a mesh that is too large to draw */

static void add_collectives(const struct emu_roster *roster, const struct emu_rank_books *books,
                            uint32_t rank, uint64_t *row)
{
    for (uint32_t family = 0; family < roster->family_count; family++) {
        uint32_t id;
        if (books->family_bytes[family] == 0 ||
            emu_roster_group_of(roster, family, rank, &id) != EMU_OK)
            continue;
        struct emu_group group = emu_roster_group(roster, id);
        uint32_t own = (uint32_t)emu_group_index(&group, rank);
        row[emu_group_member(&group, (own + 1) % group.size)] += books->family_bytes[family];
    }
}

void emu_traffic_row(const struct emu_plan *plan, const struct emu_rank_books *books, uint32_t rank,
                     uint64_t *row)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    memset(row, 0, mesh->world * sizeof *row);
    for (uint32_t place = 0; place < emu_beside_room(mesh); place++)
        row[emu_beside_rank(mesh, rank, place)] += books->sent_to[place];
    add_collectives(&plan->roster, books, rank, row);
}

/* Two lines of column numbers, the tens only where there are any. */
static void add_heading(uint32_t world, struct emu_text *out)
{
    if (world > 10) {
        emu_text_puts(out, "  from  to          ");
        for (uint32_t to = 10; to < world; to++)
            emu_text_printf(out, "%" PRIu32, to / 10);
        emu_text_puts(out, "\n            ");
    } else {
        emu_text_puts(out, "  from  to  ");
    }
    for (uint32_t to = 0; to < world; to++)
        emu_text_printf(out, "%" PRIu32, to % 10);
    emu_text_puts(out, "  bytes sent\n");
}

static void draw_row(uint32_t rank, uint32_t world, const uint64_t *row, uint64_t most,
                     struct emu_text *out)
{
    uint64_t sum = 0;
    emu_text_printf(out, "  %4" PRIu32 "      ", rank);
    for (uint32_t to = 0; to < world; to++) {
        int digit = (int)(((emu_u128)9 * row[to] + most - 1) / most);
        emu_text_putc(out, row[to] == 0 ? '.' : (char)('0' + digit));
        sum += row[to];
    }
    emu_text_printf(out, "  %" PRIu64 "\n", sum);
}

static void draw(uint32_t world, const uint64_t *map, struct emu_text *out)
{
    uint64_t most = 1;
    for (size_t i = 0; i < (size_t)world * world; i++)
        most = map[i] > most ? map[i] : most;
    add_heading(world, out);
    for (uint32_t rank = 0; rank < world; rank++)
        draw_row(rank, world, map + (size_t)rank * world, most, out);
    emu_text_printf(out,
                    "  9: %" PRIu64 " bytes, the most of any pair; a digit is ninths of that, "
                    "rounded up; a dot: nothing\n",
                    most);
}

struct pair {
    uint32_t from, to;
    uint64_t bytes;
};

/* Put a pair where it belongs among the heaviest; of equals the first found stays first. */
static void rank_pair(struct pair heaviest[LISTED], struct pair pair)
{
    for (int i = 0; i < LISTED; i++) {
        if (pair.bytes <= heaviest[i].bytes)
            continue;
        struct pair next = heaviest[i];
        heaviest[i] = pair;
        pair = next;
    }
}

static void list(const struct pair heaviest[LISTED], uint32_t world, struct emu_text *out)
{
    emu_text_printf(out,
                    "  %" PRIu32 " ranks are too many to draw (the most are %d); the heaviest "
                    "pairs, all of them are in --json:\n",
                    world, EMU_TRAFFIC_MAP_MOST);
    for (int i = 0; i < LISTED && heaviest[i].bytes > 0; i++)
        emu_text_printf(out, "  %" PRIu32 " to %" PRIu32 ": %" PRIu64 " bytes\n", heaviest[i].from,
                        heaviest[i].to, heaviest[i].bytes);
}

static void print_large(const struct emu_training_result *result, uint64_t *row,
                        struct emu_text *out)
{
    struct pair heaviest[LISTED] = {{0}};
    uint32_t world = result->plan->roster.mesh->world;
    for (uint32_t from = 0; from < world; from++) {
        emu_traffic_row(result->plan, &result->books[from], from, row);
        for (uint32_t to = 0; to < world; to++)
            rank_pair(heaviest, (struct pair){from, to, row[to]});
    }
    list(heaviest, world, out);
}

void emu_traffic_map_print(const struct emu_training_result *result, struct emu_text *out)
{
    uint32_t world = result->plan->roster.mesh->world;
    emu_text_puts(out, "\ntraffic of the last step, from rank to rank\n");
    if (!result->books) {
        emu_text_puts(out, "  no step was completed\n");
        return;
    }
    bool small = world <= EMU_TRAFFIC_MAP_MOST;
    uint64_t *map = calloc(small ? (size_t)world * world : world, sizeof *map);
    out->failed = out->failed || !map;
    for (uint32_t from = 0; map && small && from < world; from++)
        emu_traffic_row(result->plan, &result->books[from], from, map + (size_t)from * world);
    if (map && small)
        draw(world, map, out);
    else if (map)
        print_large(result, map, out);
    emu_text_puts(out, "  a collective counts for the next rank of its group, as in a ring\n");
    free(map);
}
