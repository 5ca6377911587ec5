/* A computed value and how far it can be from the exact one. */
#ifndef EMU_BASE_BOUNDED_H
#define EMU_BASE_BOUNDED_H

struct emu_bounded {
    double value; /* as computed in the arithmetic of the run (a float is held exactly) */
    double bound; /* |value - exact| <= bound, for any order of the sums in it; may be infinite */
};

#endif
