#include "bench/bench_op.h"

#include <string.h>

const enum emu_kind emu_bench_ops[EMU_BENCH_OPS] = {
    EMU_BARRIER,    EMU_BROADCAST,  EMU_REDUCE, EMU_ALL_REDUCE, EMU_REDUCE_SCATTER,
    EMU_ALL_GATHER, EMU_ALL_TO_ALL, EMU_GATHER, EMU_SCATTER,    EMU_SEND};

const char *emu_bench_op_name(enum emu_kind op)
{
    return op == EMU_SEND ? "sendrecv" : emu_kind_name(op);
}

bool emu_bench_op_find(const char *name, enum emu_kind *op)
{
    for (size_t i = 0; i < EMU_BENCH_OPS; i++) {
        if (strcmp(emu_bench_op_name(emu_bench_ops[i]), name) != 0)
            continue;
        *op = emu_bench_ops[i];
        return true;
    }
    return false;
}

static bool joins(enum emu_kind op)
{
    return op == EMU_ALL_GATHER || op == EMU_GATHER;
}

static bool splits(enum emu_kind op)
{
    return op == EMU_REDUCE_SCATTER || op == EMU_ALL_TO_ALL || op == EMU_SCATTER;
}

struct emu_bench_shape emu_bench_shape_of(enum emu_kind op, enum emu_dtype dtype, uint32_t ranks,
                                          uint64_t bytes)
{
    if (op == EMU_BARRIER)
        return (struct emu_bench_shape){0};
    uint64_t parts = joins(op) || splits(op) ? ranks : 1;
    uint64_t part = bytes / emu_dtype_bytes(dtype) / parts;
    part = part ? part : 1;
    uint64_t whole = part * parts;
    bool keeps_part = op == EMU_REDUCE_SCATTER || op == EMU_SCATTER;
    return (struct emu_bench_shape){.count = joins(op) ? part : whole,
                                    .input = joins(op) ? part : whole,
                                    .output = keeps_part ? part : whole,
                                    .bytes = whole * emu_dtype_bytes(dtype)};
}

double emu_bench_bus_factor(enum emu_kind op, uint32_t ranks)
{
    double others = (double)(ranks - 1) / ranks;
    switch (op) {
    case EMU_BARRIER:
        return 0;
    case EMU_ALL_REDUCE:
        return 2 * others;
    case EMU_REDUCE_SCATTER:
    case EMU_ALL_GATHER:
    case EMU_ALL_TO_ALL:
    case EMU_GATHER:
    case EMU_SCATTER:
        return others;
    default:
        return 1;
    }
}

bool emu_bench_op_reads(enum emu_kind op, bool is_root)
{
    return op == EMU_BROADCAST || op == EMU_SCATTER ? is_root : op != EMU_BARRIER;
}

bool emu_bench_op_writes(enum emu_kind op, bool is_root)
{
    switch (op) {
    case EMU_BARRIER:
        return false;
    case EMU_BROADCAST:
        return !is_root;
    case EMU_REDUCE:
    case EMU_GATHER:
        return is_root;
    default:
        return true;
    }
}
