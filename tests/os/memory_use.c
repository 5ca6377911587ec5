/* What a process costs grows by what it touches. */
#include "os/memory_use.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

Test(memory_use, grows_with_the_pages_that_are_touched)
{
    const size_t bytes = 64 << 20; /* far above what the test itself costs */
    struct emu_memory_use before = {0}, after = {0};
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    cr_assert(emu_memory_use(&before));
    memset(pages, 1, bytes);
    cr_assert(emu_memory_use(&after));
    munmap(pages, bytes);
    cr_expect(before.pss_bytes > 0 && before.tables_bytes > 0);
    /* Private pages count in full; what is shared may count less than before, but not below zero.
     */
    cr_expect(before.pss_bytes < bytes && after.pss_bytes >= bytes, "%lu then %lu",
              (unsigned long)before.pss_bytes, (unsigned long)after.pss_bytes);
}
