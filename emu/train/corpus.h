/* Which bytes are sequence n of a text?
 *
 * Each line of the text is a document; empty lines are skipped. A line longer than `sequence` is
 * cut into sequences of that many bytes, the last one shorter. Every byte is a target, predicted
 * from the `context` bytes before it in its own line; before the line begins they are 0.
 * Line ends (\n, also \r\n) are no bytes of the document. Sequences are numbered in file order.
 */
#ifndef EMU_TRAIN_CORPUS_H
#define EMU_TRAIN_CORPUS_H

#include <meshemu/mesh.h>
#include <meshemu/status.h>

#include <stddef.h>
#include <stdint.h>

struct emu_sequence {
    uint64_t line;   /* offset in the text at which its line begins */
    uint64_t start;  /* offset of its first byte */
    uint64_t length; /* 1..sequence */
};

/* Where rows are written to; ids NULL: they are not wanted. */
struct emu_corpus_rows {
    uint8_t *ids, *target, *valid;
};

struct emu_corpus {
    const char *text; /* borrowed */
    uint64_t bytes;
    uint64_t sequence;
    struct emu_sequence *sequences; /* owned */
    uint64_t count;
};

/* EMU_ENOMEM; a text without any document gives count 0. */
EMU_MUST_CHECK enum emu_status emu_corpus_init(struct emu_corpus *corpus, const char *text,
                                               uint64_t bytes, uint64_t sequence);
void emu_corpus_finish(struct emu_corpus *corpus);

/* Fill rows of a batch with positions `part` of sequence n (below count).
 * ids (part.count, context): the bytes before each target, oldest first; target, valid
 * (part.count). Positions behind the end of the sequence are masked: zeros. */
void emu_corpus_fill(const struct emu_corpus *corpus, uint64_t n, struct emu_slice part,
                     uint64_t context, struct emu_corpus_rows rows);

#endif
