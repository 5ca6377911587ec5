/* How do the books look to a person: bars, tables, a picture?
 *
 * Everything is written to a stream as it is made; a failed write is found by whoever owns the
 * stream. Columns are those of the terminal; `bars` says which characters bars are made of.
 */
#ifndef EMU_ACCOUNT_BOOK_PRINT_H
#define EMU_ACCOUNT_BOOK_PRINT_H

#include "account/claim.h"
#include "account/survival.h"

#include <stdio.h>

struct emu_book_page {
    FILE *out;
    uint32_t columns;
    bool blocks; /* bars of block elements (UTF-8) instead of '#' */
    bool colour;
};

/* Bars for each category: unique, largest rank, aggregate, the claim; and what refutes it. */
void emu_book_chart(const struct emu_books *books, const struct emu_claim *claims,
                    const struct emu_book_page *page);

/* The same as one SVG document. */
void emu_book_svg(const struct emu_books *books, const struct emu_claim *claims, FILE *out);

/* Which tensors there are, what tp does to each, what a rank holds of it, what all hold. */
void emu_book_tensors(const struct emu_books *books, FILE *out);

/* One row for each class of equal ranks, or for the rank alone; then the causes. */
void emu_book_ranks(const struct emu_books *books, const struct emu_rank_class *only, FILE *out);
void emu_book_causes(const struct emu_books *books, FILE *out);

/* "3.74 GiB", "12 B": at most 9 characters. */
#define EMU_BYTES_TEXT 16
const char *emu_bytes_text(double bytes, char out[EMU_BYTES_TEXT]);

/* "dp=2,tp=4" */
void emu_mesh_text(const struct emu_mesh *mesh, FILE *out);

#endif
