#include "base/suggest.h"

#include <string.h>

#define WORD_MAX 48

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: insert, delete, replace, swap neighbours. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

const char *emu_suggest(const char *word, const char *const *known, size_t count)
{
    size_t size = strlen(word);
    if (size > WORD_MAX)
        return NULL;
    const char *best = NULL;
    size_t best_distance = 0;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(known[i]);
        if (other > WORD_MAX)
            continue;
        size_t allowed = (size > other ? size : other) / 3;
        size_t d = distance(word, size, known[i], other);
        if (d > (allowed ? allowed : 1))
            continue;
        if (!best || d < best_distance) {
            best = known[i];
            best_distance = d;
        }
    }
    return best;
}
