#include "seg/rest.h"

#include "os/clock.h"
#include "seg/board_words.h"
#include "seg/words.h"

const struct emu_want *emu_wants_find(const struct emu_wants *wants, enum emu_want_what what,
                                      uint32_t with, int32_t tag)
{
    for (uint32_t i = 0; i < wants->count; i++) {
        const struct emu_want *item = &wants->items[i];
        if (item->what == (uint32_t)what && item->with == with && item->tag == tag)
            return item;
    }
    return NULL;
}

void emu_wants_add(struct emu_wants *wants, const struct emu_want *one)
{
    for (uint32_t i = 0; i < wants->count; i++) {
        struct emu_want *item = &wants->items[i];
        if (item->what != one->what || item->with != one->with || item->tag != one->tag)
            continue;
        item->count += one->count;
        item->index = one->index > item->index ? one->index : item->index;
        return;
    }
    if (wants->count == EMU_WANTS_MAX)
        wants->more = 1;
    else
        wants->items[wants->count++] = *one;
}

/* seq_cst at the rest word: the launcher reads the words of all ranks, then what they did, then the
 * words again; nobody's act may be seen there before its awakening. */
static void set_rest(const struct emu_segment *segment, uint32_t rank, uint64_t value)
{
    atomic_store_explicit(&emu_board_of(segment, rank)->rest, value, memory_order_seq_cst);
}

/* relaxed: the rank itself is the only writer */
static uint64_t own_rest(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&emu_board_of(segment, rank)->rest, memory_order_relaxed);
}

void emu_rest_publish(const struct emu_segment *segment, uint32_t rank, struct emu_rest *rest,
                      const struct emu_wants *wants)
{
    struct emu_board *board = emu_board_of(segment, rank);
    set_rest(segment, rank, own_rest(segment, rank) + 2);
    emu_words_store(board->wants, wants, EMU_WANTS_HEAD_WORDS + wants->count * EMU_WANT_WORDS);
    rest->begun_ns = emu_clock_ns();
    rest->told = false;
}

void emu_rest_sleep(const struct emu_segment *segment, uint32_t rank, struct emu_rest *rest,
                    const struct emu_sleep *sleep)
{
    uint64_t awake = own_rest(segment, rank);
    struct emu_sleep turn = *sleep;
    uint64_t tell_ns = emu_rest_tell_ns(segment);
    emu_board_beat(segment, rank);
    set_rest(segment, rank, awake | 1);
    if (!rest->told && emu_clock_ns() - rest->begun_ns >= tell_ns) {
        rest->told = true;
        emu_news_post(segment); /* only now: who looks must find the word odd */
    }
    if (!rest->told && (turn.timeout_ns < 0 || turn.timeout_ns > (int64_t)tell_ns))
        turn.timeout_ns = (int64_t)tell_ns;
    emu_word_sleep(segment, rank, &turn);
    set_rest(segment, rank, awake);
    emu_board_beat(segment, rank);
}

uint64_t emu_rest_look(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&emu_board_of(segment, rank)->rest, memory_order_seq_cst);
}

void emu_rest_wants(const struct emu_segment *segment, uint32_t rank, struct emu_wants *wants)
{
    struct emu_board *board = emu_board_of(segment, rank);
    emu_words_load(wants, board->wants, EMU_WANTS_HEAD_WORDS);
    if (wants->count > EMU_WANTS_MAX)
        wants->count = EMU_WANTS_MAX; /* torn */
    emu_words_load(wants->items, board->wants + EMU_WANTS_HEAD_WORDS,
                   wants->count * EMU_WANT_WORDS);
}
