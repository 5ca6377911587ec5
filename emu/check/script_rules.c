#include "check/script_rules.h"

#include <stdlib.h>
#include <string.h>

enum emu_status emu_replay_init(struct emu_replay *replay, const struct emu_script *script)
{
    uint32_t world = script->mesh.world;
    *replay = (struct emu_replay){.script = script};
    replay->ranks = calloc(world, sizeof *replay->ranks);
    replay->started = calloc((size_t)world * script->roster.family_count, sizeof *replay->started);
    bool good = replay->ranks && replay->started;
    for (uint32_t rank = 0; good && rank < world; rank++) {
        const struct emu_script_entry *entry = emu_script_entry_of(script, rank);
        struct emu_replay_rank *one = &replay->ranks[rank];
        emu_script_walk_init(&one->walk, entry);
        one->open = calloc(entry ? entry->name_count + 1 : 1, sizeof *one->open);
        good = one->open != NULL;
    }
    if (good)
        return EMU_OK;
    emu_replay_finish(replay);
    return EMU_ENOMEM;
}

void emu_replay_finish(struct emu_replay *replay)
{
    for (uint32_t rank = 0; replay->ranks && rank < replay->script->mesh.world; rank++)
        free(replay->ranks[rank].open);
    free(replay->ranks);
    free(replay->started);
    free(replay->pairs);
    *replay = (struct emu_replay){0};
}

static size_t place_of(const struct emu_replay *replay, uint32_t from, uint32_t to, int32_t tag)
{
    uint64_t hash = ((uint64_t)from << 32 | to) * UINT64_C(0x9E3779B97F4A7C15) ^
                    (uint64_t)(uint32_t)tag * UINT64_C(0xC2B2AE3D27D4EB4F);
    size_t mask = replay->pair_room - 1;
    size_t at = (size_t)(hash ^ hash >> 29) & mask;
    const struct emu_replay_pair *pairs = replay->pairs;
    while (pairs[at].used && (pairs[at].from != from || pairs[at].to != to || pairs[at].tag != tag))
        at = (at + 1) & mask;
    return at;
}

/* Room for one more. */
static bool grow(struct emu_replay *replay)
{
    if (replay->pair_count * 2 < replay->pair_room)
        return true;
    struct emu_replay old = *replay;
    size_t room = old.pair_room ? 2 * old.pair_room : 64;
    struct emu_replay_pair *pairs = calloc(room, sizeof *pairs);
    if (!pairs)
        return false;
    replay->pairs = pairs;
    replay->pair_room = room;
    for (size_t i = 0; i < old.pair_room; i++)
        if (old.pairs[i].used)
            pairs[place_of(replay, old.pairs[i].from, old.pairs[i].to, old.pairs[i].tag)] =
                old.pairs[i];
    free(old.pairs);
    return true;
}

/* NULL: no memory. Valid until the next call. */
static struct emu_replay_pair *pair_of(struct emu_replay *replay, uint32_t from, uint32_t to,
                                       int64_t tag)
{
    if (!grow(replay)) {
        replay->no_memory = true;
        return NULL;
    }
    struct emu_replay_pair *pair = &replay->pairs[place_of(replay, from, to, (int32_t)tag)];
    if (!pair->used) {
        *pair = (struct emu_replay_pair){.from = from, .to = to, .tag = (int32_t)tag, .used = true};
        replay->pair_count++;
    }
    return pair;
}

static uint64_t *started_of(const struct emu_replay *replay, uint32_t rank, uint32_t family)
{
    return &replay->started[(size_t)rank * replay->script->roster.family_count + family];
}

static void start_message(struct emu_replay *replay, uint32_t rank, const struct emu_script_op *op,
                          enum emu_kind kind, struct emu_replay_call *call)
{
    uint32_t peer = (uint32_t)(kind == EMU_SEND ? op->to : op->from);
    bool sends = kind == EMU_SEND;
    struct emu_replay_pair *pair =
        sends ? pair_of(replay, rank, peer, op->tag) : pair_of(replay, peer, rank, op->tag);
    if (!pair)
        return;
    call->wants[call->count++] = (struct emu_replay_want){
        .kind = kind, .op = op, .peer = peer, .index = sends ? pair->sends++ : pair->recvs++};
}

void emu_replay_start(struct emu_replay *replay, uint32_t rank, const struct emu_script_op *op,
                      struct emu_replay_call *call)
{
    *call = (struct emu_replay_call){0};
    if (op->kind == EMU_SCRIPT_COLLECTIVE) {
        call->wants[call->count++] =
            (struct emu_replay_want){.kind = op->call,
                                     .op = op,
                                     .group = emu_script_group(replay->script, op, rank),
                                     .index = (*started_of(replay, rank, op->family))++};
        return;
    }
    if (op->kind != EMU_SCRIPT_RECV)
        start_message(replay, rank, op, EMU_SEND, call);
    if (op->kind != EMU_SCRIPT_SEND)
        start_message(replay, rank, op, EMU_RECV, call);
}

bool emu_replay_is_over(struct emu_replay *replay, uint32_t rank, struct emu_replay_want *want)
{
    replay->steps++;
    if (want->kind == EMU_SEND) {
        const struct emu_replay_pair *pair = pair_of(replay, rank, want->peer, want->op->tag);
        return pair && pair->recvs > want->index;
    }
    if (want->kind == EMU_RECV) {
        const struct emu_replay_pair *pair = pair_of(replay, want->peer, rank, want->op->tag);
        return pair && pair->sends > want->index;
    }
    struct emu_group group = emu_roster_group(&replay->script->roster, want->group);
    while (want->seen<group.size && *
                      started_of(replay, emu_group_member(&group, want->seen), want->op->family)>
               want->index) {
        want->seen++;
        replay->steps++;
    }
    return want->seen == group.size;
}

static struct emu_replay_want *first_open(struct emu_replay *replay, uint32_t rank,
                                          struct emu_replay_call *call)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (!emu_replay_is_over(replay, rank, &call->wants[i]))
            return &call->wants[i];
    call->count = 0; /* all of it is over */
    return NULL;
}

struct emu_replay_want *emu_replay_waits_for(struct emu_replay *replay, uint32_t rank)
{
    struct emu_replay_rank *one = &replay->ranks[rank];
    struct emu_replay_want *want = first_open(replay, rank, &one->now);
    for (size_t i = 0; !want && one->waiting && i < one->waiting->wait_count; i++)
        want = first_open(replay, rank, &one->open[one->waiting->waits[i]]);
    return want;
}

bool emu_replay_awaits(const struct emu_replay *replay, const struct emu_replay_want *want,
                       uint32_t other)
{
    if (want->kind == EMU_SEND || want->kind == EMU_RECV)
        return want->peer == other;
    struct emu_group group = emu_roster_group(&replay->script->roster, want->group);
    return emu_group_contains(&group, other) &&
           *started_of(replay, other, want->op->family) <= want->index;
}
