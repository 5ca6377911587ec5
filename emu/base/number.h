/* How does a number become text and back? Independent of the locale. */
#ifndef EMU_BASE_NUMBER_H
#define EMU_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_NUMBER_MAX 32

/* Shortest decimal that reads back as the same double ("0.1", "1e-08", "nan", "-inf"); integers
 * below 1e17 in full ("100", not "1e+02"). Returns out. */
const char *emu_number_f64(double value, char out[EMU_NUMBER_MAX]);

/* Whole text consumed, finite for f64; else false and *out untouched. Integers: decimal, optional
 * minus, no blanks; underscores and hex are refused. */
bool emu_parse_f64(const char *text, double *out);
bool emu_parse_i64(const char *text, int64_t *out);
bool emu_parse_u64(const char *text, uint64_t *out);

#endif
