#include "account/book_print.h"

#include <inttypes.h>
#include <math.h>

/* Pixels. */
#define LEFT 190
#define BAR 420
#define RIGHT 330
#define ROW 17
#define GAP 14
#define TOP 58

struct canvas {
    FILE *out;
    double least, most;
    bool logarithmic;
    int y;
};

static void take(struct canvas *canvas, double bytes)
{
    if (bytes <= 0)
        return;
    canvas->least = canvas->least <= 0 || bytes < canvas->least ? bytes : canvas->least;
    canvas->most = bytes > canvas->most ? bytes : canvas->most;
}

static double length_of(const struct canvas *canvas, double bytes)
{
    if (bytes <= 0)
        return 0;
    double start = canvas->least / 2;
    return BAR * (canvas->logarithmic ? log(bytes / start) / log(canvas->most / start)
                                      : bytes / canvas->most);
}

/* Names of axes and tensors hold letters, digits, '_', '.', '-' and '*' alone: no escaping. */
static void put_row(struct canvas *canvas, const char *label, double bytes, const char *fill,
                    const char *note)
{
    char figure[EMU_BYTES_TEXT];
    fprintf(canvas->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
            canvas->y + 12, label);
    fprintf(canvas->out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
            LEFT, canvas->y, length_of(canvas, bytes), ROW - 3, fill);
    fprintf(canvas->out, "<text x=\"%.1f\" y=\"%d\">%s%s</text>\n",
            LEFT + length_of(canvas, bytes) + 6, canvas->y + 12, emu_bytes_text(bytes, figure),
            note);
    canvas->y += ROW;
}

static void put_category(struct canvas *canvas, const struct emu_claim *claim, uint32_t world)
{
    char note[160];
    char label[32];
    fprintf(canvas->out, "<text x=\"12\" y=\"%d\" font-weight=\"bold\">%s</text>\n", canvas->y + 12,
            claim->name);
    put_row(canvas, "unique", (double)claim->unique, "#2e7d32", "");
    snprintf(note, sizeof note, ", rank %" PRIu32, claim->largest_rank);
    put_row(canvas, "largest rank", (double)claim->largest, "#0277bd", note);
    snprintf(note, sizeof note, ", %.2f x unique",
             (double)claim->aggregate / (double)claim->unique);
    put_row(canvas, "aggregate", (double)claim->aggregate, "#f9a825", note);
    snprintf(label, sizeof label, "unique / %" PRIu32, world);
    if (claim->refuted)
        snprintf(note, sizeof note, ", false: %s%s%s", claim->tensor, *claim->axis ? ", " : "",
                 claim->axis);
    else
        snprintf(note, sizeof note, ", true of every tensor");
    put_row(canvas, label, claim->claimed, claim->refuted ? "#c62828" : "#757575", note);
    canvas->y += GAP;
}

void emu_book_svg(const struct emu_books *books, const struct emu_claim *claims, FILE *out)
{
    struct canvas canvas = {.out = out, .y = TOP};
    int shown = 0;
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++) {
        take(&canvas, (double)claims[i].unique);
        take(&canvas, (double)claims[i].largest);
        take(&canvas, (double)claims[i].aggregate);
        take(&canvas, claims[i].claimed);
        shown += claims[i].unique > 0;
    }
    canvas.logarithmic = canvas.most > canvas.least * 200;
    int height = TOP + shown * (4 * ROW + GAP) + 8;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n",
            LEFT + BAR + RIGHT, height);
    fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    fputs("<text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">Bytes on mesh ", out);
    emu_mesh_text(&books->shapes.config->mesh, out);
    fprintf(out,
            "</text>\n<text x=\"12\" y=\"42\">%" PRIu64 " unique elements, %" PRIu64 " on %" PRIu32
            " ranks together%s</text>\n",
            books->unique_elements, books->aggregate.elements, books->shapes.world,
            canvas.logarithmic ? "; bars are logarithmic" : "");
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++) {
        if (claims[i].unique)
            put_category(&canvas, &claims[i], books->shapes.world);
    }
    fputs("</svg>\n", out);
}
