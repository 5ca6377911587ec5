/* Where in its program does a rank call from? Each call-site once, in as few bytes as its notes can
 * carry.
 *
 * A program makes the same few calls again and again. Label, file and line of each are written to
 * the table of the rank in the segment the first time; a note carries a reference to them.
 *
 *   one table a rank: EMU_SITES sites, used from the first on
 *   site: 0 sequence | 4 line | 8 label[32] | 40 file[64] | 128
 *   reference: number (9 bits), version of the site (23 bits) above; 0: no label, file or line
 *
 * word         writers   readers  order            publishes          a stale read costs
 * sequence     the rank  any      release/acquire  line, label, file  none: the reference says
 *                                                                     which version it means
 * line, label, the rank  any      release/acquire  -                  a torn text, seen by
 * file                                                                sequence: dropped
 *
 * sequence is 2v-1 while version v of the site is written, 2v when it is whole; 0: never used. A
 * reference to another version than that which lies there finds nothing, never a wrong text;
 * versions come round after 2^23 others of that site. A table outlives its rank.
 *
 * Where all sites are taken a new one takes the place of one that no call used of those whose
 * numbers lie within EMU_SITE_CALLS of the newest: what the flight recorder refers to stays. A call
 * has one site, and one more each time a fault makes another call in its place, which happens a few
 * times in a run, so such a site exists.
 */
#ifndef EMU_SEG_SITES_H
#define EMU_SEG_SITES_H

#include "seg/header.h"

#include <meshemu/comm.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EMU_SITES 512
#define EMU_SITE_CALLS 256
#define EMU_SITE_FILE_MAX 64

/* What a site says, padded with zeros: the start of a long label, the end of a long path. */
struct emu_site_text {
    char label[EMU_NAME_MAX];
    char file[EMU_SITE_FILE_MAX];
    uint32_t line;
};
void emu_site_text_of(const struct emu_call *call, struct emu_site_text *text);

#define EMU_SITE_LABEL_WORDS (EMU_NAME_MAX / sizeof(uint64_t))
#define EMU_SITE_FILE_WORDS (EMU_SITE_FILE_MAX / sizeof(uint64_t))

struct emu_site {
    _Atomic uint32_t sequence;
    _Atomic uint32_t line;
    _Atomic uint64_t label[EMU_SITE_LABEL_WORDS];
    _Atomic uint64_t file[EMU_SITE_FILE_WORDS];
    unsigned char spare[24];
};
_Static_assert(sizeof(struct emu_site) == 128, "two lines, a label in the first");

struct emu_site_table {
    struct emu_site sites[EMU_SITES];
};

/* Everything that tells a site from another but the text of its label, in half a line. */
struct emu_site_place {
    const char *file;
    uint64_t used; /* number of the last call */
    uint32_t line;
    uint32_t reference; /* 0: the place is empty */
    uint16_t hash; /* of file, line and label: enough to choose a place and to pass by others */
    uint16_t labelled;
};
_Static_assert(sizeof(struct emu_site_place) == 32, "two a line");
#define EMU_SITE_PLACES_FEW 64

/* The rank's own way from a call to its site: a hash table that widens with the number of sites, so
 * that a program with few of them touches few pages. The memory of a wide one is taken at once, and
 * touched when it is needed. Stays where it was initialised. */
struct emu_site_index {
    struct emu_site_place *places; /* `few` or `wide` */
    struct emu_site_place *wide;   /* owned */
    struct emu_site *sites;        /* of the rank, in the segment */
    uint32_t mask;                 /* places in use - 1 */
    uint32_t count;                /* sites in use */
    uint32_t hand;                 /* the site after the last one that was given up */
    alignas(EMU_LINE) struct emu_site_place few[EMU_SITE_PLACES_FEW];
    uint16_t hashes[EMU_SITES]; /* by number of a site: to find its place */
};

/* EMU_ENOMEM. finish accepts what init refused, and zeros. */
EMU_MUST_CHECK enum emu_status
emu_site_index_init(struct emu_site_index *index, const struct emu_segment *segment, uint32_t rank);
void emu_site_index_finish(struct emu_site_index *index);

/* The reference to the site of a call.
 *
 * call     its label is compared by content, its file by address: the text behind a file that was
 *          seen once must stay (meshemu/comm.h)
 * number   of the call in the flight recorder; never smaller than in the call before
 * callers  the rank alone
 */
uint32_t emu_site_find(struct emu_site_index *index, const struct emu_call *call, uint64_t number);

/* What a reference of a rank means; false: nothing, or no longer. Callers: any process. */
bool emu_site_read(const struct emu_segment *segment, uint32_t rank, uint32_t reference,
                   struct emu_site_text *text);

#endif
