#include <meshemu/mesh.h>

#include <assert.h>

struct emu_slice emu_slice_chunk(uint64_t n, uint64_t parts, uint64_t index)
{
    assert(index < parts);
    uint64_t each = n / parts + (n % parts != 0);
    if (each == 0 || index > n / each)
        return (struct emu_slice){n, 0};
    uint64_t start = each * index;
    uint64_t left = n - start;
    return (struct emu_slice){start, left < each ? left : each};
}

struct emu_slice emu_slice_even(uint64_t n, uint64_t parts, uint64_t index)
{
    assert(index < parts);
    uint64_t each = n / parts;
    uint64_t longer = n % parts;
    uint64_t start = each * index + (index < longer ? index : longer);
    return (struct emu_slice){start, each + (index < longer)};
}
