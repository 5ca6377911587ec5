/* The 128-bit integers of gcc and clang, named once: ISO C has none, so this is the one typedef. */
#ifndef EMU_BASE_WIDE_H
#define EMU_BASE_WIDE_H

__extension__ typedef __int128 emu_i128;
__extension__ typedef unsigned __int128 emu_u128;

#endif
