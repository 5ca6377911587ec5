/* Which loops fold which dtype and op? */
#ifndef EMU_COMM_FOLD_KERNELS_H
#define EMU_COMM_FOLD_KERNELS_H

#include "base/cpu_variant.h"

#include <meshemu/comm.h>

struct emu_fold_row {
    void (*step[EMU_OP_COUNT])(void *restrict result, const void *restrict next, uint64_t count);
    void (*two[EMU_OP_COUNT])(void *restrict result, const void *restrict one,
                              const void *restrict next, uint64_t count);
    void (*divide)(void *result, uint64_t count, uint32_t members);
};

/* By dtype; NULL where the dtype does not know the op. */
struct emu_fold_table {
    struct emu_fold_row rows[EMU_DTYPE_COUNT];
};

EMU_VARIANTS_DECLARE(const struct emu_fold_table, emu_fold_table);

#endif
