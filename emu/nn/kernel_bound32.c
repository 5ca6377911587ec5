/* The bounded kernels, values in float. */
#include "nn/kernel_tables.h"

#include <float.h>
#include <string.h>
#include <tgmath.h>

#define REAL float
#define UNIT 0x1p-24
#define TINY ((double)FLT_TRUE_MIN)
#define LARGEST ((double)FLT_MAX)

#include "nn/bound_activation.inc.h"
#include "nn/bound_elementwise.inc.h"
#include "nn/bound_loss.inc.h"
#include "nn/bound_matmul.inc.h"
#include "nn/bound_norm.inc.h"
#include "nn/bound_update.inc.h"

#define ELEMENT struct emu_bounded
#define TABLE emu_kernels_bound32
#define TABLE_NAME "bound32"
#define TABLE_DTYPE EMU_BOUND32

#include "nn/kernel_table.inc.h"
