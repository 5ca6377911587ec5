/* May the calling thread give up what it computes?
 *
 * The oracle's step can take far longer than a person who pressed Ctrl-C, or the ranks of a run
 * that has failed, will wait. Whoever starts such a step says where to look; the products of pairs,
 * which take most of the time, look now and then and return early. Their results are then
 * worthless: the thread that asked must look too before it uses any.
 *
 * The watch belongs to the thread. Without one nothing is ever halted. Asking is as cheap as the
 * question that was given.
 */
#ifndef EMU_NN_HALT_H
#define EMU_NN_HALT_H

#include <stdbool.h>

/* asked is called with context by the thread itself; NULL ends the watch. Both are borrowed. */
void emu_halt_watch(bool (*asked)(const void *context), const void *context);

bool emu_halt_asked(void);

#endif
