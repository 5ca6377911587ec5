#include "train/corpus.h"

#include <stdlib.h>
#include <string.h>

/* End of the document that begins at `start`; *next is where the following line begins. */
static uint64_t line_end(const char *text, uint64_t bytes, uint64_t start, uint64_t *next)
{
    const char *newline = memchr(text + start, '\n', bytes - start);
    uint64_t end = newline ? (uint64_t)(newline - text) : bytes;
    *next = newline ? end + 1 : bytes;
    if (newline && end > start && text[end - 1] == '\r')
        end--;
    return end;
}

/* Cut all lines; writes the sequences where `out` is given. Returns their number. */
static uint64_t cut(const struct emu_corpus *corpus, struct emu_sequence *out)
{
    uint64_t count = 0;
    uint64_t next;
    for (uint64_t line = 0; line < corpus->bytes; line = next) {
        uint64_t end = line_end(corpus->text, corpus->bytes, line, &next);
        for (uint64_t start = line; start < end; start += corpus->sequence) {
            uint64_t left = end - start;
            if (out)
                out[count] = (struct emu_sequence){
                    line, start, left < corpus->sequence ? left : corpus->sequence};
            count++;
            if (left <= corpus->sequence)
                break;
        }
    }
    return count;
}

enum emu_status emu_corpus_init(struct emu_corpus *corpus, const char *text, uint64_t bytes,
                                uint64_t sequence)
{
    struct emu_corpus made = {.text = text, .bytes = bytes, .sequence = sequence};
    made.count = cut(&made, NULL);
    if (made.count) {
        made.sequences = calloc(made.count, sizeof *made.sequences);
        if (!made.sequences)
            return EMU_ENOMEM;
        cut(&made, made.sequences);
    }
    *corpus = made;
    return EMU_OK;
}

void emu_corpus_finish(struct emu_corpus *corpus)
{
    free(corpus->sequences);
    *corpus = (struct emu_corpus){0};
}

void emu_corpus_fill(const struct emu_corpus *corpus, uint64_t n, struct emu_slice part,
                     uint64_t context, struct emu_corpus_rows rows)
{
    const struct emu_sequence *sequence = &corpus->sequences[n];
    const uint8_t *text = (const uint8_t *)corpus->text;
    if (part.count == 0)
        return;
    if (rows.ids)
        memset(rows.ids, 0, part.count * context);
    memset(rows.target, 0, part.count);
    memset(rows.valid, 0, part.count);
    for (uint64_t row = 0; row < part.count && part.start + row < sequence->length; row++) {
        uint64_t at = sequence->start + part.start + row;
        uint64_t known = at - sequence->line;
        uint64_t copied = known < context ? known : context;
        if (rows.ids)
            memcpy(rows.ids + row * context + (context - copied), text + at - copied, copied);
        rows.target[row] = text[at];
        rows.valid[row] = 1;
    }
}
