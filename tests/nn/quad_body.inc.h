/* The template of the plain kernels for QUAD; the including file says how constants are rounded. */
#define LANE_OF_ONE
#include "nn/kernel_tables.h"
#include "quad_kernels.h"

#include <math.h>
#include <string.h>

static struct emu_adamw_constants rounded_constants(const struct emu_adamw *params)
{
    const struct emu_adamw_constants c = emu_adamw_constants_of(params);
    return (struct emu_adamw_constants){
        (CONSTANT)c.lr,    (CONSTANT)c.beta1,    (CONSTANT)c.rest1,
        (CONSTANT)c.beta2, (CONSTANT)c.rest2,    (CONSTANT)c.epsilon,
        (CONSTANT)c.decay, (CONSTANT)c.correct1, (CONSTANT)c.correct2};
}
#define emu_adamw_constants_of rounded_constants

static const CONSTANT half_sqrt2 = (CONSTANT)EMU_HALF_SQRT2;
static const CONSTANT normal_density0 = (CONSTANT)EMU_NORMAL_DENSITY0;
static const CONSTANT rms_epsilon = (CONSTANT)EMU_RMS_EPSILON;
#undef EMU_HALF_SQRT2
#undef EMU_NORMAL_DENSITY0
#undef EMU_RMS_EPSILON
#define EMU_HALF_SQRT2 half_sqrt2
#define EMU_NORMAL_DENSITY0 normal_density0
#define EMU_RMS_EPSILON rms_epsilon

#ifdef __clang__ /* glibc has them, but its headers declare them for gcc alone */
QUAD expf128(QUAD x);
QUAD erff128(QUAD x);
QUAD logf128(QUAD x);
QUAD sqrtf128(QUAD x);
#endif

#define REAL QUAD
#define exp expf128
#define erf erff128
#define log logf128
#define sqrt sqrtf128

#include "nn/plain_activation.inc.h"
#include "nn/plain_elementwise.inc.h"
#include "nn/plain_loss.inc.h"
#include "nn/plain_matmul.inc.h"
#include "nn/plain_norm.inc.h"
#include "nn/plain_update.inc.h"

#define ELEMENT REAL
#define TABLE_DTYPE EMU_F64 /* never meets a collective of more than one member */

#include "nn/kernel_table.inc.h"
