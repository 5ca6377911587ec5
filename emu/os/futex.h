/* How does a process sleep until a shared word changes? Linux futexes without FUTEX_PRIVATE: the
 * word may lie in memory that several processes map. */
#ifndef EMU_OS_FUTEX_H
#define EMU_OS_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sleep while *word == expected, at most timeout_ns (< 0: for ever). Returns false on time-out;
 * true otherwise, also on a spurious wake or a signal: look at the word again. */
bool emu_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);

/* The same in some lanes (a set of bits, not 0): emu_futex_wake wakes every lane. */
bool emu_futex_wait_in(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns,
                       uint32_t lanes);

/* Wake all who sleep on the word in one of these lanes. */
void emu_futex_wake_in(_Atomic uint32_t *word, uint32_t lanes);

/* Wake up to `count` sleepers on the word. Callers: anyone, also a signal handler. */
void emu_futex_wake(_Atomic uint32_t *word, uint32_t count);

#endif
