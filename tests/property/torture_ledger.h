/* Coefficients that travel with the calls of collective_torture.c: which go in, and which must come
 * out? Member m puts in 1 + m + i at place i. */
#ifndef TESTS_PROPERTY_TORTURE_LEDGER_H
#define TESTS_PROPERTY_TORTURE_LEDGER_H

#include "ledger/field.h"
#include "seg/kinds.h"

#include <meshemu/comm.h>

#include <stdbool.h>

#define TORTURE_COEFFICIENTS 400 /* at most */

static inline void torture_ledger_fill(const struct emu_call *call, uint32_t me)
{
    for (uint64_t i = 0; i < call->ledger_count; i++)
        call->ledger[i] = 1 + me + i;
}

/* Are they right at member me of `size`? A mean is what gives the sum when it is multiplied. */
static inline bool torture_ledger_is_right(const struct emu_call *call, uint32_t me, uint64_t size)
{
    bool folds = emu_kind_reduces(call->kind) && (call->kind != EMU_REDUCE || me == call->root);
    uint64_t source = call->kind == EMU_BROADCAST ? call->root : me;
    uint64_t times = folds && call->op == EMU_AVG ? size : 1;
    for (uint64_t i = 0; i < call->ledger_count; i++) {
        uint64_t sum = size * (1 + i) + size * (size - 1) / 2;
        uint64_t got = call->ledger[i];
        if (got >= EMU_FIELD_PRIME || emu_field_mul(got, times) != (folds ? sum : 1 + source + i))
            return false;
    }
    return true;
}

#endif
