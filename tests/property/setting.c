/* Mesh and data at random: what a recipe is written for. */
#include "scenario.h"

#include <string.h>

static void shuffle(struct draw *draw, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = draw_below(draw, i), kept = items[i - 1];
        items[i - 1] = items[k];
        items[k] = kept;
    }
}

/* Small meshes mostly; every size that divides nothing evenly is among them. */
static uint32_t random_size(struct draw *draw, uint32_t room)
{
    static const uint32_t sizes[] = {1, 2, 2, 2, 2, 3, 3, 4};
    uint32_t size = draw_percent(draw, 3) ? 5 + draw_below(draw, 12)
                                          : sizes[draw_below(draw, sizeof sizes / sizeof sizes[0])];
    return size <= room ? size : 1;
}

static void random_mesh(struct scenario *scenario, struct draw *draw)
{
    uint32_t names[] = {AXIS_DP, AXIS_DP, AXIS_CP, AXIS_TP, AXIS_COPY, AXIS_PP};
    if (scenario->language) /* tp splits parameters there */
        names[1] = AXIS_TP;
    uint32_t most = draw_percent(draw, 70) ? 4 : draw_percent(draw, 70) ? 8 : RANKS_MOST;
    uint32_t wanted = 1 + draw_below(draw, AXES_MOST);
    shuffle(draw, names, sizeof names / sizeof names[0]);
    scenario->world = 1;
    for (int i = 0; i < AXIS_NAMES; i++)
        scenario->size[i] = 1;
    for (uint32_t i = 0; i < 6 && scenario->axes < wanted; i++) {
        enum axis_name name = (enum axis_name)names[i];
        if (scenario_has(scenario, name) || (name == AXIS_PP && draw_percent(draw, 80)))
            continue;
        bool single = name == AXIS_PP || (name == AXIS_CP && scenario->language);
        scenario->size[name] = single ? 1 : random_size(draw, most / scenario->world);
        scenario->world *= scenario->size[name];
        scenario->axis[scenario->axes++] = name;
    }
    scenario->arranged = draw_percent(draw, 20);
    for (uint32_t i = 0; i < scenario->world; i++)
        scenario->rank[i] = i;
    if (scenario->arranged)
        shuffle(draw, scenario->rank, scenario->world);
}

struct data_manners {
    bool even; /* every source has as many tokens */
    bool none_empty;
    bool alike;     /* every token has the same value: wrong weights cannot be seen in sums */
    bool fractions; /* quarters, else whole numbers */
    uint32_t count;
};

static void random_source(const struct scenario *scenario, struct draw *draw,
                          const struct data_manners *manners, struct source *source)
{
    source->count = manners->even ? manners->count : draw_below(draw, SOURCE_TOKENS_MOST);
    if (manners->none_empty && source->count == 0)
        source->count = 1;
    for (uint32_t t = 0; t < source->count; t++) {
        bool may_mask = !manners->even && !(manners->none_empty && t == 0);
        source->masked[t] = may_mask && draw_percent(draw, 20);
        source->valid += !source->masked[t];
        for (uint32_t f = 0; f < scenario->features; f++) {
            int value = (int)draw_below(draw, 33) - 16;
            source->quarters[t][f] = manners->alike       ? 8
                                     : manners->fractions ? value
                                                          : value / 4 * 4;
        }
    }
}

static void random_tokens(struct scenario *scenario, struct draw *draw)
{
    scenario->features = 1 + draw_below(draw, FEATURES_MOST);
    struct data_manners manners = {.even = draw_percent(draw, 25),
                                   .none_empty = draw_percent(draw, 60),
                                   .alike = draw_percent(draw, 10),
                                   .fractions = draw_percent(draw, 50),
                                   .count = 1 + draw_below(draw, SOURCE_TOKENS_MOST)};
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        random_source(scenario, draw, &manners, &scenario->source[s]);
    struct source *first = &scenario->source[draw_below(draw, scenario_sources(scenario))];
    if (scenario_tokens(scenario) == 0)
        *first = (struct source){.count = 1, .valid = 1, .quarters = {{4, 8, -4}}};
}

/* Start of part i of n things in k parts: the chunk rule, ceil(n/k) at a time until none is left.
 */
static uint32_t chunk_start(uint32_t n, uint32_t k, uint32_t i)
{
    uint32_t start = i * ((n + k - 1) / k);
    return start < n ? start : n;
}

/* Valid tokens of sequences first .. end-1, wrapping: lengths of the text's sequences. */
static uint32_t count_tokens(const uint32_t *lengths, uint32_t sequences, uint32_t first,
                             uint32_t end)
{
    uint32_t sum = 0;
    for (uint32_t i = first; i < end; i++)
        sum += lengths[i % sequences];
    return sum;
}

static void share_batch(struct scenario *scenario, const uint32_t *lengths, uint32_t sequences)
{
    uint32_t dp = scenario->size[AXIS_DP], micro = scenario->microbatches;
    for (uint32_t d = 0; d < dp; d++) {
        uint32_t first = chunk_start(scenario->batch, dp, d);
        uint32_t own = chunk_start(scenario->batch, dp, d + 1) - first;
        for (uint32_t m = 0; m < micro; m++)
            scenario->source[d * micro + m].valid =
                count_tokens(lengths, sequences, first + chunk_start(own, micro, m),
                             first + chunk_start(own, micro, m + 1));
    }
}

static void random_text(struct scenario *scenario, struct draw *draw)
{
    static const char *const models[] = {
        "context: 2, embed: 3, hidden: 4, layers: 1, activation: relu",
        "context: 1, embed: 2, hidden: 3, layers: 1, norm: none, loss: squared, activation: relu",
        "context: 1, embed: 2, hidden: 3, layers: 2, tie_embeddings: false, activation: silu"};
    uint32_t lengths[TEXT_MOST], sequences = 0, used = 0;
    scenario->model = models[draw_below(draw, sizeof models / sizeof models[0])];
    scenario->sequence = 2 + draw_below(draw, 4);
    scenario->batch = 1 + draw_below(draw, 6);
    for (uint32_t line = 1 + draw_below(draw, 4); line > 0; line--) {
        uint32_t length = draw_below(draw, 11) + (line == 1);
        for (uint32_t i = 0; i < length; i++)
            scenario->text[used++] = (char)('a' + draw_below(draw, 26));
        scenario->text[used++] = '\n';
        for (; length > 0; length -= lengths[sequences++])
            lengths[sequences] = length < scenario->sequence ? length : scenario->sequence;
    }
    share_batch(scenario, lengths, sequences);
}

void scenario_setting(struct scenario *scenario, struct draw *draw)
{
    static const char *const optimizers[] = {"{kind: sgd, lr: 1}", "{kind: sgd, lr: 0.1}",
                                             "{kind: momentum, lr: 0.5, momentum: 0.5}",
                                             "{kind: adamw, lr: 1e-3}"};
    memset(scenario, 0, sizeof *scenario);
    scenario->language = draw_percent(draw, 10);
    random_mesh(scenario, draw);
    scenario->microbatches = 1 + draw_below(draw, MICRO_MOST);
    if (scenario->language)
        random_text(scenario, draw);
    else
        random_tokens(scenario, draw);
    bool exact = !scenario->language && draw_percent(draw, 50);
    scenario->arithmetic = exact ? "exact" : "f64";
    scenario->steps = !exact && !scenario->language && draw_percent(draw, 15) ? 2 : 1;
    scenario->optimizer = optimizers[draw_below(draw, exact ? 2 : 4)];
}
