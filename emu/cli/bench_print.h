/* How does a benchmark look: to a program, and to a person? */
#ifndef EMU_CLI_BENCH_PRINT_H
#define EMU_CLI_BENCH_PRINT_H

#include "bench/bench_rows.h"

#include <meshemu/finding.h>

#include <stdio.h>

/* false: a write failed. */
bool emu_bench_write_json(const struct emu_bench *bench, const struct emu_findings *findings,
                          FILE *out);

/* The table of the rows that were measured; then what is wrong, with rank and element. */
void emu_bench_print_text(const struct emu_bench *bench, FILE *out);

#endif
