/* The bounded kernels, values in double. */
#include "nn/kernel_tables.h"

#include <float.h>
#include <string.h>
#include <tgmath.h>

#define REAL double
#define UNIT 0x1p-53
#define TINY ((double)DBL_TRUE_MIN)
#define LARGEST ((double)DBL_MAX)

#include "nn/bound_activation.inc.h"
#include "nn/bound_elementwise.inc.h"
#include "nn/bound_loss.inc.h"
#include "nn/bound_matmul.inc.h"
#include "nn/bound_norm.inc.h"
#include "nn/bound_update.inc.h"

#define ELEMENT struct emu_bounded
#define TABLE emu_kernels_bound64
#define TABLE_NAME "bound64"
#define TABLE_DTYPE EMU_BOUND64

#include "nn/kernel_table.inc.h"
