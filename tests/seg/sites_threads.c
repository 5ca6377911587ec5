/* A rank that gives up call-sites while the launcher reads them, as threads for ThreadSanitizer:
 * what is read is what the reference meant, or nothing. Exit code 0 is a pass. */
#include "seg/sites.h"
#include "small_segment.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CALLS 60000
#define LINES 2000 /* more places than sites */
#define READERS 2

static struct small_segment small;
/* Reference and line of the last calls, for readers: in one word, so that they belong together. The
 * next entry to be written tells of the next site to be given up. */
static _Atomic uint64_t told[EMU_SITES];
static _Atomic uint32_t calls;
static _Atomic bool over;

static void text_of(uint32_t line, struct emu_call *call, char label[EMU_NAME_MAX])
{
    snprintf(label, EMU_NAME_MAX, "label of line %u", line);
    *call = (struct emu_call){.label = label, .file = "step.c", .line = line};
}

static void *write_sites(void *argument)
{
    struct emu_site_index *sites = argument;
    for (uint32_t i = 0; i < CALLS; i++) {
        struct emu_call call;
        char label[EMU_NAME_MAX];
        uint32_t line = i * 7 % LINES + 1;
        text_of(line, &call, label);
        uint64_t reference = emu_site_find(sites, &call, i);
        atomic_store_explicit(&told[i % EMU_SITES], reference << 32 | line, memory_order_release);
        atomic_store_explicit(&calls, i + 1, memory_order_release);
    }
    atomic_store(&over, true);
    return NULL;
}

struct tally {
    uint64_t right, gone, wrong;
};

static void read_one(uint64_t word, struct tally *tally)
{
    struct emu_site_text text, wanted;
    struct emu_call call;
    char label[EMU_NAME_MAX];
    text_of((uint32_t)word, &call, label);
    emu_site_text_of(&call, &wanted);
    if (!emu_site_read(&small.segment, 0, (uint32_t)(word >> 32), &text))
        tally->gone++;
    else if (memcmp(&text, &wanted, sizeof text) == 0)
        tally->right++;
    else
        tally->wrong++;
}

static void *read_sites(void *argument)
{
    struct tally *tally = argument;
    for (uint32_t i = 0; !atomic_load(&over) || tally->right == 0; i++) {
        uint32_t next = atomic_load_explicit(&calls, memory_order_acquire) + i % 4;
        uint64_t word = atomic_load_explicit(&told[next % EMU_SITES], memory_order_acquire);
        if (word)
            read_one(word, tally);
    }
    return NULL;
}

int main(void)
{
    struct emu_site_index sites;
    struct tally tallies[READERS] = {{0}};
    pthread_t writer, readers[READERS];
    if (!small_open(&small, "dp=1") || emu_site_index_init(&sites, &small.segment, 0))
        return 2;
    for (int i = 0; i < READERS; i++)
        if (pthread_create(&readers[i], NULL, read_sites, &tallies[i]))
            return 2;
    if (pthread_create(&writer, NULL, write_sites, &sites))
        return 2;
    pthread_join(writer, NULL);
    uint64_t wrong = 0;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        wrong += tallies[i].wrong;
        printf("reader %d: %lu right, %lu gone, %lu wrong\n", i, (unsigned long)tallies[i].right,
               (unsigned long)tallies[i].gone, (unsigned long)tallies[i].wrong);
    }
    emu_site_index_finish(&sites);
    small_close(&small);
    return wrong > 0;
}
