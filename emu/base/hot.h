/* Which code does every call of a rank pass? It is put side by side in memory: where many ranks
 * share a core each of them finds its translations of pages gone when its turn comes, and pays for
 * every page that it touches (on two cores 16 pages more cost a rank among 128 about 0.27 us).
 */
#ifndef EMU_BASE_HOT_H
#define EMU_BASE_HOT_H

#define EMU_HOT __attribute__((hot))

#endif
