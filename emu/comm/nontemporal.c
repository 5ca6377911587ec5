#include "comm/nontemporal.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

#define WIDTH 16
#define STEP 64

void emu_nontemporal_copy(void *to, const void *from, uint64_t bytes)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    uint64_t head = (WIDTH - (uintptr_t)out % WIDTH) % WIDTH;
    if (to == from)
        return;
    if (head > bytes)
        head = bytes;
    memcpy(out, in, head);
    uint64_t at = head;
    for (; at + STEP <= bytes; at += STEP)
        for (uint64_t part = 0; part < STEP; part += WIDTH) {
            __m128i word = _mm_loadu_si128((const void *)(in + at + part));
            _mm_stream_si128((void *)(out + at + part), word);
        }
    memcpy(out + at, in + at, bytes - at);
}

void emu_nontemporal_finish(void)
{
    _mm_sfence();
}

#else

void emu_nontemporal_copy(void *to, const void *from, uint64_t bytes)
{
    if (to != from)
        memcpy(to, from, bytes);
}

void emu_nontemporal_finish(void)
{
}

#endif
