#include "account/book_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Beyond this ratio of the longest bar to the shortest, bars are logarithmic. */
#define LINEAR_MOST 200.0
#define LABEL 26   /* columns before a bar */
#define FIGURES 34 /* columns after it */
#define BAR_LEAST 20
#define BAR_MOST 60

struct scale {
    double least, most; /* bytes of the shortest and the longest bar */
    bool logarithmic;
    uint32_t width;
};

const char *emu_bytes_text(double bytes, char out[EMU_BYTES_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    while (bytes >= 1023.995 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    bool whole = unit == 0 && bytes == floor(bytes);
    snprintf(out, EMU_BYTES_TEXT, whole ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
    return out;
}

void emu_mesh_text(const struct emu_mesh *mesh, FILE *out)
{
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        fprintf(out, "%s%s=%" PRIu32, i ? "," : "", mesh->axes[i].name, mesh->axes[i].size);
}

static void take(struct scale *scale, double bytes)
{
    if (bytes <= 0)
        return;
    scale->least = scale->least <= 0 || bytes < scale->least ? bytes : scale->least;
    scale->most = bytes > scale->most ? bytes : scale->most;
}

static struct scale scale_of(const struct emu_claim *claims, uint32_t columns)
{
    struct scale scale = {0};
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++) {
        take(&scale, (double)claims[i].unique);
        take(&scale, (double)claims[i].largest);
        take(&scale, (double)claims[i].aggregate);
        take(&scale, claims[i].claimed);
    }
    scale.logarithmic = scale.most > scale.least * LINEAR_MOST;
    uint32_t room = columns > LABEL + FIGURES ? columns - LABEL - FIGURES : 0;
    scale.width = room < BAR_LEAST ? BAR_LEAST : room > BAR_MOST ? BAR_MOST : room;
    return scale;
}

/* Eighths of a column. What is there gets an eighth at least. */
static uint32_t length_of(const struct scale *scale, double bytes)
{
    if (bytes <= 0 || scale->most <= 0)
        return 0;
    double floor_bytes = scale->least / 2;
    double part = scale->logarithmic ? log(bytes / floor_bytes) / log(scale->most / floor_bytes)
                                     : bytes / scale->most;
    uint32_t eighths = (uint32_t)(part * scale->width * 8 + 0.5);
    return eighths ? eighths : 1;
}

static void put_bar(const struct emu_book_page *page, const struct scale *scale, double bytes,
                    const char *colour)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    uint32_t eighths = length_of(scale, bytes);
    uint32_t cells = page->blocks ? eighths / 8 : (eighths + 7) / 8;
    uint32_t used = cells + (page->blocks && eighths % 8 ? 1 : 0);
    if (page->colour)
        fputs(colour, page->out);
    for (uint32_t i = 0; i < cells; i++)
        fputs(page->blocks ? "█" : "#", page->out);
    if (page->blocks)
        fputs(parts[eighths % 8], page->out);
    if (page->colour)
        fputs("\033[0m", page->out);
    fprintf(page->out, "%*s", (int)(scale->width - used) + 1, "");
}

static void put_line(const struct emu_book_page *page, const struct scale *scale,
                     const char *category, const char *label, double bytes)
{
    const char *colour = !strcmp(label, "unique")      ? "\033[32m"
                         : !strcmp(label, "aggregate") ? "\033[33m"
                         : label[0] == 'l'             ? "\033[36m"
                                                       : "\033[31m";
    char figure[EMU_BYTES_TEXT];
    fprintf(page->out, "  %-11s  %-10s ", category, label);
    put_bar(page, scale, bytes, colour);
    fprintf(page->out, "%11s", emu_bytes_text(bytes, figure));
}

static void put_category(const struct emu_book_page *page, const struct scale *scale,
                         const struct emu_claim *claim, uint32_t world)
{
    char label[24];
    char figure[EMU_BYTES_TEXT];
    put_line(page, scale, claim->name, "unique", (double)claim->unique);
    fputc('\n', page->out);
    put_line(page, scale, "", "largest", (double)claim->largest);
    fprintf(page->out, "  rank %" PRIu32, claim->largest_rank);
    if (claim->smallest != claim->largest)
        fprintf(page->out, "; least %s, rank %" PRIu32,
                emu_bytes_text((double)claim->smallest, figure), claim->smallest_rank);
    fputc('\n', page->out);
    put_line(page, scale, "", "aggregate", (double)claim->aggregate);
    fprintf(page->out, "  %.2f x unique\n", (double)claim->aggregate / (double)claim->unique);
    snprintf(label, sizeof label, "/ %" PRIu32, world);
    put_line(page, scale, "", label, claim->claimed);
    if (world == 1)
        fputs("\n", page->out);
    else if (claim->refuted)
        fprintf(page->out, "  false: %s%s%s\n", claim->tensor, *claim->axis ? ", " : "",
                claim->axis);
    else
        fputs("  true of every tensor\n", page->out);
}

/* Categories that are refuted alike share a line. */
static void put_refutations(const struct emu_claim *claims, uint32_t world, FILE *out)
{
    bool said[EMU_BOOK_CATEGORIES] = {false};
    bool any = false;
    fprintf(out, "\nDividing by %" PRIu32 " ranks is refuted\n", world);
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++) {
        if (!claims[i].refuted || said[i])
            continue;
        any = true;
        fprintf(out, "  for %s", claims[i].name);
        for (int k = i + 1; k < EMU_BOOK_CATEGORIES; k++) {
            said[k] = said[k] || !strcmp(claims[i].why, claims[k].why);
            if (claims[k].refuted && !strcmp(claims[i].why, claims[k].why))
                fprintf(out, ", %s", claims[k].name);
        }
        fprintf(out, "\n    %s\n", claims[i].why);
    }
    if (!any)
        fputs("  nowhere: every rank holds its share of every tensor\n", out);
}

void emu_book_chart(const struct emu_books *books, const struct emu_claim *claims,
                    const struct emu_book_page *page)
{
    uint32_t world = books->shapes.world;
    struct scale scale = scale_of(claims, page->columns);
    if (scale.logarithmic)
        fputs("  bars are logarithmic\n", page->out);
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++) {
        if (claims[i].unique)
            put_category(page, &scale, &claims[i], world);
    }
    if (world == 1)
        return;
    put_refutations(claims, world, page->out);
}
