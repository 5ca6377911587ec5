#include "account/book_print.h"
#include "cli/account_request.h"

#include <inttypes.h>

/* Longer fractions are left to --json. */
#define EXACT_SHOWN 23

/* The fraction as text, or "" where it is too wide for the table. */
static bool put_odds(struct emu_odds *odds, int width, FILE *out)
{
    struct emu_text exact = {0};
    double probability;
    bool good = emu_odds_next_text(odds, &probability, &exact);
    if (good)
        fprintf(out, "  %10.6f %-*s", probability, width,
                exact.size > EXACT_SHOWN ? "(exact with --json)" : emu_text_get(&exact));
    emu_text_finish(&exact);
    return good;
}

static void put_killing(const struct emu_survival *survival, enum emu_state_part part,
                        const char *name, FILE *out)
{
    const struct emu_holder_sets *sets = &survival->sets[part];
    const char *unit = survival->node_size > 1 ? "node" : "rank";
    fprintf(out,
            "  %s: smallest killing sets %" PRIu64 ", each of %" PRIu64 " %s%s; the first:", name,
            sets->sets, sets->per_set, unit, sets->per_set == 1 ? "" : "s");
    for (uint32_t i = 0; i < survival->shown[part]; i++)
        fprintf(out, " %" PRIu32, survival->killing[part][i]);
    fputs(survival->shown[part] < sets->per_set ? " ...\n" : "\n", out);
}

bool emu_account_print_survival(const struct emu_account_request *request, FILE *out)
{
    const struct emu_survival *survival = &request->survival;
    const struct emu_holder_sets *sets = survival->sets;
    struct emu_odds odds[EMU_STATE_COUNT];
    char figure[EMU_BYTES_TEXT];
    bool good = true;
    fputs("\nCapacity is not ownership: ", out);
    if (survival->node_size > 1)
        fprintf(out, "nodes of %" PRIu32 " ranks lost at random\n", survival->node_size);
    else
        fputs("ranks lost at random\n", out);
    fprintf(out, "  %6s %13s  %-34s  %s\n", "lost", "capacity left", "every weight has a holder",
            "every optimizer state has one");
    for (int part = 0; part < EMU_STATE_COUNT; part++)
        emu_odds_begin(&odds[part], sets[part]);
    for (uint64_t lost = 1; lost <= request->survive && good && !ferror(out); lost++) {
        uint64_t left = emu_survival_capacity(&request->books, sets[0].units, lost);
        fprintf(out, "  %6" PRIu64 " %13s", lost, emu_bytes_text((double)left, figure));
        good = put_odds(&odds[EMU_STATE_WEIGHTS], EXACT_SHOWN, out) &&
               put_odds(&odds[EMU_STATE_OPTIMIZER], 0, out);
        fputc('\n', out);
    }
    for (int part = 0; part < EMU_STATE_COUNT; part++)
        emu_odds_finish(&odds[part]);
    put_killing(survival, EMU_STATE_WEIGHTS, "weights", out);
    put_killing(survival, EMU_STATE_OPTIMIZER, "optimizer", out);
    return good;
}
