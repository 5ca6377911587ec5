#include "seg/sites.h"

#include "base/hot.h"
#include "seg/header.h"
#include "seg/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BITS 9
#define NUMBER_MASK (EMU_SITES - 1)
#define VERSION_MAX (UINT32_MAX >> NUMBER_BITS)
#define PLACES_MOST (2 * EMU_SITES)         /* never more than half full */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* odd; the golden ratio in 64 bits */

_Static_assert(EMU_SITES == 1 << NUMBER_BITS, "every number is a site");
_Static_assert(EMU_SITES > EMU_SITE_CALLS + 128, "some are always old, those of faults included");

/* A label, padded with zeros. */
struct label {
    uint64_t words[EMU_SITE_LABEL_WORDS];
};

static struct emu_site *table_of(const struct emu_segment *segment, uint32_t rank)
{
    struct emu_site_table *tables = (void *)(segment->base + segment->sites);
    return tables[rank].sites;
}

void emu_site_text_of(const struct emu_call *call, struct emu_site_text *text)
{
    memset(text, 0, sizeof *text);
    if (call->label)
        memcpy(text->label, call->label, strnlen(call->label, sizeof text->label - 1));
    if (call->file) {
        size_t length = strlen(call->file), most = sizeof text->file - 1;
        size_t kept = length < most ? length : most;
        memcpy(text->file, call->file + (length - kept), kept);
    }
    text->line = call->line;
}

enum emu_status emu_site_index_init(struct emu_site_index *index, const struct emu_segment *segment,
                                    uint32_t rank)
{
    *index =
        (struct emu_site_index){.sites = table_of(segment, rank), .mask = EMU_SITE_PLACES_FEW - 1};
    index->places = index->few;
    /* Not cleared: pages that are never needed shall never be touched. */
    index->wide = aligned_alloc(EMU_LINE, PLACES_MOST * sizeof *index->wide);
    return index->wide ? EMU_OK : EMU_ENOMEM;
}

void emu_site_index_finish(struct emu_site_index *index)
{
    free(index->wide);
    index->wide = NULL;
}

static uint32_t place_after(const struct emu_site_index *index, uint32_t place)
{
    return (place + 1) & index->mask;
}

static struct label label_of(const struct emu_call *call)
{
    struct label label = {{0}};
    memcpy(&label, call->label, strnlen(call->label, sizeof label - 1));
    return label;
}

static uint16_t hash_of(const struct emu_site_place *key, const struct label *label)
{
    uint64_t hash = ((uintptr_t)key->file + key->line * GOLDEN) * GOLDEN;
    for (size_t i = 0; key->labelled && i < EMU_SITE_LABEL_WORDS; i++)
        hash = (hash ^ hash >> 32 ^ label->words[i]) * GOLDEN;
    return (uint16_t)(hash >> 48);
}

/* relaxed: the rank itself wrote it */
static bool says(const struct emu_site *site, const struct label *label)
{
    bool same = true;
    for (size_t i = 0; i < EMU_SITE_LABEL_WORDS; i++)
        same =
            same && atomic_load_explicit(&site->label[i], memory_order_relaxed) == label->words[i];
    return same;
}

static bool is_place_of(const struct emu_site_index *index, const struct emu_site_place *place,
                        const struct emu_site_place *key, const struct label *label)
{
    return place->hash == key->hash && place->file == key->file && place->line == key->line &&
           place->labelled == key->labelled &&
           (!key->labelled || says(&index->sites[place->reference & NUMBER_MASK], label));
}

static void insert(struct emu_site_index *index, const struct emu_site_place *entry)
{
    uint32_t at = entry->hash & index->mask;
    while (index->places[at].reference)
        at = place_after(index, at);
    index->places[at] = *entry;
}

/* Twice as many places. */
static void widen(struct emu_site_index *index)
{
    struct emu_site_place held[EMU_SITES / 2];
    uint32_t count = 0, places = index->mask + 1;
    for (uint32_t i = 0; i < places; i++)
        if (index->places[i].reference)
            held[count++] = index->places[i];
    index->places = index->wide;
    memset(index->places, 0, 2 * places * sizeof *index->places);
    index->mask = 2 * places - 1;
    for (uint32_t i = 0; i < count; i++)
        insert(index, &held[i]);
}

/* Empty a place; those behind it move up where the gap would part them from their first choice. */
static void clear(struct emu_site_index *index, uint32_t gap)
{
    for (uint32_t at = place_after(index, gap); index->places[at].reference;
         at = place_after(index, at)) {
        uint32_t first = index->places[at].hash;
        if (((at - first) & index->mask) < ((at - gap) & index->mask))
            continue;
        index->places[gap] = index->places[at];
        gap = at;
    }
    index->places[gap].reference = 0;
}

/* Where a site of the table stands in the index. */
static uint32_t place_of(const struct emu_site_index *index, uint32_t site)
{
    uint32_t at = index->hashes[site] & index->mask;
    while ((index->places[at].reference & NUMBER_MASK) != site || !index->places[at].reference)
        at = place_after(index, at);
    return at;
}

/* The number of a site that no note of the last calls refers to; it is free then. All numbers in
 * turn, so that it does not depend on hashes which one goes. */
static uint32_t give_up(struct emu_site_index *index, uint64_t number)
{
    for (uint32_t tries = 0; tries < EMU_SITES; tries++) {
        uint32_t site = index->hand;
        uint32_t at = place_of(index, site);
        index->hand = (site + 1) % EMU_SITES;
        if (number - index->places[at].used > EMU_SITE_CALLS) {
            clear(index, at);
            return site;
        }
    }
    assert(index->count < EMU_SITES); /* of so many one is always old, see sites.h */
    return EMU_SITES;
}

/* Returns its reference. */
static uint32_t write_site(struct emu_site *site, uint32_t number, const struct emu_call *call)
{
    struct emu_site_text text;
    emu_site_text_of(call, &text);
    /* relaxed: the rank itself is the only writer. A rank that died here left an odd number. */
    uint32_t sequence = atomic_load_explicit(&site->sequence, memory_order_relaxed);
    uint32_t version = (sequence + 1) / 2 % VERSION_MAX + 1;
    atomic_store_explicit(&site->sequence, 2 * version - 1, memory_order_release);
    atomic_store_explicit(&site->line, text.line, memory_order_release);
    emu_words_store(site->label, text.label, EMU_SITE_LABEL_WORDS);
    emu_words_store(site->file, text.file, EMU_SITE_FILE_WORDS);
    atomic_store_explicit(&site->sequence, 2 * version, memory_order_release);
    return version << NUMBER_BITS | number;
}

/* A site that was not seen before. */
static uint32_t add(struct emu_site_index *index, const struct emu_call *call,
                    struct emu_site_place *key)
{
    uint32_t number = index->count < EMU_SITES ? index->count++ : give_up(index, key->used);
    if (number == EMU_SITES)
        return 0;
    index->hashes[number] = key->hash;
    key->reference = write_site(&index->sites[number], number, call);
    if (index->count > (index->mask + 1) / 2)
        widen(index);
    insert(index, key);
    return key->reference;
}

EMU_HOT uint32_t emu_site_find(struct emu_site_index *index, const struct emu_call *call,
                               uint64_t number)
{
    struct emu_site_place key = {.file = call->file,
                                 .used = number,
                                 .line = call->line,
                                 .labelled = call->label && call->label[0] != '\0'};
    if (!key.labelled && !key.file && key.line == 0)
        return 0;
    struct label label = key.labelled ? label_of(call) : (struct label){{0}};
    key.hash = hash_of(&key, &label);
    for (uint32_t at = key.hash & index->mask; index->places[at].reference;
         at = place_after(index, at)) {
        struct emu_site_place *place = &index->places[at];
        if (is_place_of(index, place, &key, &label)) {
            place->used = number;
            return place->reference;
        }
    }
    return add(index, call, &key);
}

bool emu_site_read(const struct emu_segment *segment, uint32_t rank, uint32_t reference,
                   struct emu_site_text *text)
{
    const struct emu_site *site = &table_of(segment, rank)[reference & NUMBER_MASK];
    uint32_t whole = 2 * (reference >> NUMBER_BITS);
    if (whole == 0 || atomic_load_explicit(&site->sequence, memory_order_acquire) != whole)
        return false;
    struct emu_site_text read;
    read.line = atomic_load_explicit(&site->line, memory_order_acquire);
    emu_words_load(read.label, site->label, EMU_SITE_LABEL_WORDS);
    emu_words_load(read.file, site->file, EMU_SITE_FILE_WORDS);
    if (atomic_load_explicit(&site->sequence, memory_order_relaxed) != whole)
        return false;
    *text = read;
    return true;
}
