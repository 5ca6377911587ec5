#include "seg/incident.h"

#include "os/clock.h"
#include "seg/board_words.h"
#include "seg/incident_words.h"
#include "seg/slot.h"

static struct emu_incident_list *list_of(const struct emu_segment *segment)
{
    return (void *)(segment->base + segment->incidents);
}

void emu_incident_append(const struct emu_segment *segment, struct emu_incident *incident)
{
    struct emu_incident_list *list = list_of(segment);
    if (incident->cause == EMU_INCIDENT_PEER && emu_abort_look(segment))
        return;
    incident->at_ns = emu_clock_ns();
    uint32_t ticket = atomic_fetch_add_explicit(&list->taken, 1, memory_order_relaxed);
    if (ticket < EMU_INCIDENT_MAX) {
        list->entries[ticket].incident = *incident;
        atomic_store_explicit(&list->entries[ticket].ready, 1, memory_order_release);
    }
    emu_news_post(segment);
}

bool emu_incident_read(const struct emu_segment *segment, uint32_t i, struct emu_incident *out)
{
    struct emu_incident_list *list = list_of(segment);
    if (i >= EMU_INCIDENT_MAX ||
        !atomic_load_explicit(&list->entries[i].ready, memory_order_acquire))
        return false;
    *out = list->entries[i].incident;
    return true;
}

uint32_t emu_incident_count(const struct emu_segment *segment)
{
    return atomic_load_explicit(&list_of(segment)->taken, memory_order_relaxed);
}

void emu_breach_report(const struct emu_ring *ring, const struct emu_breach *breach)
{
    if (atomic_exchange_explicit(&ring->head->reported, 1, memory_order_acq_rel))
        return;
    bool peer = breach->cause == EMU_SLOT_PEER;
    struct emu_incident incident = {
        .cause = peer ? EMU_INCIDENT_PEER : EMU_INCIDENT_MISMATCH,
        .status = peer ? EMU_EPEER : EMU_EMISMATCH,
        .rank = breach->rank,
        .group = ring->group,
        .index = breach->index,
        .enabled_ns = emu_clock_ns(),
    };
    if (peer)
        incident.enabled_ns = atomic_load_explicit(
            &emu_board_of(ring->segment, breach->rank)->gone_ns, memory_order_acquire);
    emu_incident_append(ring->segment, &incident);
}

/* The note of a member, if it lies there whole and belongs to this call. */
static bool read_signature(const struct emu_ring *ring, uint64_t index, uint32_t member,
                           struct emu_note *note)
{
    struct emu_slot_entry *entry = emu_ring_entry(ring, index, member);
    if (atomic_load_explicit(&entry->posted, memory_order_acquire) != index + 1)
        return false;
    emu_words_load(note, entry->note, EMU_NOTE_WORDS);
    return atomic_load_explicit(&entry->posted, memory_order_relaxed) == index + 1;
}

void emu_slot_members(const struct emu_segment *segment, uint32_t group, uint64_t index,
                      struct emu_member_view *members)
{
    struct emu_ring ring = emu_ring_of(segment, group);
    for (uint32_t i = 0; i < ring.size; i++) {
        struct emu_note note;
        members[i] = (struct emu_member_view){.rank = emu_group_member(&ring.members, i)};
        members[i].has_call = read_signature(&ring, index, i, &note);
        if (members[i].has_call)
            emu_note_view(segment, members[i].rank, &note, &members[i].call);
    }
}
