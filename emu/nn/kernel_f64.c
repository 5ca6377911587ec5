/* The plain kernels, all arithmetic in double. */
#include "nn/kernel_tables.h"

#include <string.h>
#include <tgmath.h>

#define REAL double

#include "nn/plain_activation.inc.h"
#include "nn/plain_elementwise.inc.h"
#include "nn/plain_loss.inc.h"
#include "nn/plain_matmul.inc.h"
#include "nn/plain_norm.inc.h"
#include "nn/plain_update.inc.h"

#define ELEMENT REAL
#define TABLE emu_kernels_f64
#define TABLE_NAME "f64"
#define TABLE_DTYPE EMU_F64

#include "nn/kernel_table.inc.h"
