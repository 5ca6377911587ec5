/* How does a number of a script become the elements of a buffer, and an element a result? */
#ifndef EMU_RUN_SCRIPT_VALUE_H
#define EMU_RUN_SCRIPT_VALUE_H

#include <meshemu/comm.h>

#include <stdint.h>

/* count elements of dtype, all of this value: for integers cut towards zero, and the nearest one
 * that there is where it does not fit. */
void emu_script_fill(void *buffer, uint64_t count, enum emu_dtype dtype, double value);

/* The first element: an integer sign extended, floating point as the bits of a double. */
uint64_t emu_script_first(const void *buffer, enum emu_dtype dtype);

#endif
