#include "comm/fold.h"

#include "comm/fold_kernels.h"

#include <assert.h>

static const struct emu_fold_row *row_of(enum emu_dtype dtype)
{
    static const struct emu_fold_table *const tables[] = EMU_VARIANTS_OF(emu_fold_table);
    return &tables[emu_cpu_variant()]->rows[dtype];
}

bool emu_fold_knows(enum emu_dtype dtype, enum emu_op op)
{
    return (unsigned)dtype < EMU_DTYPE_COUNT && (unsigned)op < EMU_OP_COUNT &&
           row_of(dtype)->step[op];
}

void emu_fold(enum emu_dtype dtype, enum emu_op op, void *result, const void *next, uint64_t count)
{
    assert(emu_fold_knows(dtype, op));
    row_of(dtype)->step[op](result, next, count);
}

void emu_fold_two(enum emu_dtype dtype, enum emu_op op, void *result, const void *a, const void *b,
                  uint64_t count)
{
    assert(emu_fold_knows(dtype, op));
    row_of(dtype)->two[op](result, a, b, count);
}

void emu_fold_finish(enum emu_dtype dtype, enum emu_op op, void *result, uint64_t count,
                     uint32_t members)
{
    if (op == EMU_AVG)
        row_of(dtype)->divide(result, count, members);
}
