/* Can a member of a slot sleep for ever, or be told something else than the others?
 *
 * The protocol of emu/seg/slot.h with one slot that is reused: MEMBERS members make CALLS calls of
 * one round. One of them may die between any two steps; the launcher then runs what
 * emu_segment_fail_rank does. Somebody may end the run at any time (emu_abort_post). With FOLDS who
 * comes last folds for all before it judges. With CREWS members count up in crews, and who completes
 * its crew counts for it. Calls that are lent, and rounds: loan.pml.
 *
 * Checked: no invalid end state (nobody sleeps for ever), one outcome of each call for all members
 * that return from it, COMPLETE and FOLDED only if all had deposited, FOLDED only while the result of
 * this very call is there, and no PEER where who came last had come before it died.
 *
 * The word is (generation, decision, version): version changes wherever the tick or the ABORT bit
 * of the real word does, and with every other change, so equal versions mean equal words. `sleepers`
 * is the SLEEPERS bit. Steps that the program makes with one atomic instruction are one step here.
 *
 * Variants that must fail (tests/models/run.sh wants an error from each):
 *   ABORT_OUTSIDE   the abort is not part of the word that is slept on
 *   NO_TICK         the launcher wakes, but does not change the words
 *   DONE_FIRST      a member notes its deposit as done before it is counted
 *   NO_SETTLE       the launcher does not complete what all had announced
 *   FOLD_LATE       (FOLDS) who comes last judges before it has folded
 *   FIRST_COUNTS    (CREWS) who comes first counts for its crew
 *   LEAVES_FOR_ALL  (CREWS) who leaves first leaves for its crew
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifdef CREWS
#define PARTIES CREWS
#define CREW (me % CREWS)
#define CREW_SIZE (MEMBERS / CREWS + (CREW < MEMBERS % CREWS -> 1 : 0))
byte crew_came[CREWS], crew_left[CREWS];
#else
#define PARTIES MEMBERS
#endif
#ifdef FIRST_COUNTS
#define COUNTS_AT 1
#else
#define COUNTS_AT CREW_SIZE
#endif
#ifdef LEAVES_FOR_ALL
#define LEAVES_AT 1
#else
#define LEAVES_AT CREW_SIZE
#endif
#define NONE 255
#define NOBODY 254

mtype = { OPEN, COMPLETE, FOLDED, PEER, UNKNOWN, ABORTED };

byte generation, version;
mtype decision = OPEN;
bool sleepers;
byte deposited, departed; /* parties */
byte done[MEMBERS]; /* calls whose deposit was announced, and judged if it was the last */
byte result;        /* calls whose fold was written to the slot */
byte broken = NONE; /* first call that will not happen */
bool aborted;
bool sleeps_on[MEMBERS], asleep[MEMBERS];
bool dead, noticed;
byte victim;
mtype outcome[CALLS] = UNKNOWN;
byte deposits_of[CALLS];
byte last_of[CALLS] = NOBODY;

inline wake()
{
    d_step {
        w = 0;
        do
        :: w < MEMBERS -> asleep[w] = false; w++
        :: else -> break
        od;
        w = 0
    }
}

/* The victim may die wherever this stands. */
#define MORTAL                                                                                     \
    if                                                                                             \
    :: me == victim -> dead = true; goto gone                                                      \
    :: true                                                                                        \
    fi

/* One arrow: a compare-and-swap of the decision, then the wake, in which one may die. */
inline shift(call, to, won)
{
    d_step {
        won = false;
        had = false;
        if
        :: generation == call && decision == OPEN ->
            decision = to; version++; had = sleepers; sleepers = false; won = true
        :: else
        fi
    };
    if
    :: won && had -> MORTAL; wake()
    :: else
    fi;
    had = false
}

inline look_used()
{
    d_step {
        used = deposited > 0;
#ifdef CREWS
        w = 0;
        do
        :: w < CREWS -> used = used || crew_came[w] > 0; w++
        :: else -> break
        od;
        w = 0
#endif
    }
}

/* One more has deposited: count is PARTIES for who comes last of all. */
inline arrive(call)
{
#ifdef CREWS
    d_step { deposits_of[call]++; crew_came[CREW]++; count = crew_came[CREW] };
    MORTAL;
    if
    :: count == COUNTS_AT ->
        d_step {
            deposited++; count = deposited;
            if
            :: count == PARTIES -> last_of[call] = me
            :: else
            fi
        }
    :: else -> count = 0
    fi
#else
    d_step {
        deposits_of[call]++; deposited++; count = deposited;
        if
        :: count == PARTIES -> last_of[call] = me
        :: else
        fi
    }
#endif
}

inline depart()
{
#ifdef CREWS
    d_step { crew_left[CREW]++; count = crew_left[CREW] };
    MORTAL;
    if
    :: count == LEAVES_AT -> d_step { departed++; count = departed }
    :: else -> count = 0
    fi
#else
    d_step { departed++; count = departed }
#endif
}

inline forget()
{
#ifdef CREWS
    d_step {
        w = 0;
        do
        :: w < CREWS -> crew_came[w] = 0; crew_left[w] = 0; w++
        :: else -> break
        od;
        w = 0
    };
    MORTAL;
#endif
    d_step { deposited = 0; departed = 0 }
}

/* emu_ring_meet_breach and the launcher: end what is undecided. */
inline settle(call, from)
{
#ifndef NO_SETTLE
    if
    :: deposited == PARTIES -> shift(call, COMPLETE, won)
    :: else
    fi;
#endif
    look_used();
    if
    :: call >= from && used -> shift(call, PEER, won)
    :: else
    fi;
    used = false
}

inline sleep_on_word(me)
{
    if
    :: !seen_sleepers ->
        d_step {
            if
            :: version == seen && !sleepers -> sleepers = true; seen_sleepers = true
            :: else
            fi
        }
    :: else
    fi;
    if
    :: seen_sleepers ->
        sleeps_on[me] = true;
        if
        :: !aborted ->
            d_step {
                if
                :: version == seen && sleepers -> asleep[me] = true
                :: else
                fi
            };
            !asleep[me]
        :: else
        fi;
        sleeps_on[me] = false
    :: else
    fi
}

inline look()
{
    d_step {
        seen = version; seen_sleepers = sleepers;
        seen_generation = generation; seen_decision = decision
    }
}

/* What a member answers for a call. */
inline answer(call, what)
{
    d_step {
        if
        :: what == ABORTED
        :: else ->
            assert(outcome[call] == UNKNOWN || outcome[call] == what);
            assert((what != COMPLETE && what != FOLDED) || deposits_of[call] == MEMBERS);
            assert(what != FOLDED || result == call + 1);
            assert(what != PEER || last_of[call] != victim);
            outcome[call] = what
        fi
    }
}

proctype member(byte me)
{
    byte call = 0, seen, seen_generation, count, w;
    bool seen_sleepers, won, had, used;
    mtype seen_decision;

    do
    :: call == CALLS -> break
    :: else ->
        /* until the slot is free */
        do
        :: look();
            if
            :: broken < call -> answer(call, PEER); goto next
            :: broken == call && seen_generation != call -> answer(call, PEER); goto next
            :: seen_generation == call -> break
            :: else ->
                if
                :: aborted -> answer(call, ABORTED); goto ended
                :: else -> sleep_on_word(me)
                fi
            fi
        od;
        MORTAL;
#ifdef DONE_FIRST
        done[me] = call + 1;
        MORTAL;
#endif
        arrive(call);
        MORTAL;
        if
        :: count == PARTIES ->
#ifdef FOLDS
#ifndef FOLD_LATE
            assert(generation == call); /* whatever others have decided meanwhile */
            result = call + 1;
            MORTAL;
#endif
            shift(call, FOLDED, won);
#ifdef FOLD_LATE
            result = call + 1;
#endif
#else
            shift(call, COMPLETE, won);
#endif
            MORTAL
        :: else
        fi;
#ifndef DONE_FIRST
        done[me] = call + 1;
#endif
        MORTAL;
        /* until it is decided */
        do
        :: look();
            assert(seen_generation == call);
            if
            :: seen_decision != OPEN -> break
            :: else ->
                if
                :: broken <= call -> settle(call, broken)
                :: else ->
                    if
                    :: aborted -> answer(call, ABORTED); goto ended
                    :: else -> sleep_on_word(me)
                    fi
                fi
            fi;
            MORTAL
        od;
        answer(call, seen_decision);
        d_step { count = 0; won = false; seen = 0; seen_sleepers = false };
        if
        :: seen_decision == COMPLETE || seen_decision == FOLDED ->
            MORTAL;
            depart();
            MORTAL;
            if
            :: count == PARTIES ->
                forget();
                MORTAL;
                d_step { generation++; decision = OPEN; version++; won = sleepers; sleepers = false };
                MORTAL;
                if
                :: won -> wake()
                :: else
                fi
            :: else
            fi
        :: else
        fi;
next:   call++
    od;
    goto ended;
gone:
    noticed = true; /* the kernel tells the launcher: pidfd */
ended:
    skip
}

proctype launcher()
{
    byte from, at, w, me = 254; /* never the victim */
    bool won, had, used;
end:
    noticed;
    from = done[victim];
    broken = from;
    at = generation;
    settle(at, from);
#ifndef NO_TICK
    d_step { version++; sleepers = false };
#endif
    wake();
gone:
    skip
}

proctype aborter()
{
    byte other = 0, w;
    if
    :: aborted = true;
        do
        :: other < MEMBERS ->
            if
            :: sleeps_on[other] ->
#ifndef ABORT_OUTSIDE
                version++;
#endif
                wake()
            :: else
            fi;
            other++
        :: else -> break
        od
    :: true
    fi
}

init
{
    byte i = 0;
    atomic {
        if
        :: victim = 0
        :: victim = NONE
        fi;
        do
        :: i < MEMBERS -> run member(i); i++
        :: else -> break
        od;
        run launcher();
#ifndef NO_ABORT
        run aborter()
#endif
    }
}
