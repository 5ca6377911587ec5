/* Can the auditor or a rank wait for ever at the gate, or can the auditor look too early?
 *
 * The protocol of emu/seg/gate.h: RANKS ranks pass STEPS steps; one may die between any two of its
 * steps, and the launcher tells (emu_segment_fail_rank). An auditor that learns of a death ends the
 * run, as the launcher does.
 *
 * Checked: no invalid end state; the auditor goes on only when every rank has arrived at the step,
 * and no rank passes a step before the auditor has answered it.
 *
 * Variants that must fail: ARRIVED_FIRST (a rank is marked as arrived before it is counted),
 * NO_RING (the launcher does not ring the auditor's bell for a rank that is gone).
 */
#ifndef RANKS
#define RANKS 2
#endif
#define STEPS 2
#define NONE 255

byte bell, arrivals, answered;
byte arrived[RANKS], really[RANKS];
bool gone[RANKS], dead, aborted;
bool auditor_asleep, rank_asleep[RANKS], sleeps_on[RANKS], sleepers;
byte version; /* of the answer word */
byte victim;

#define MORTAL                                                                                     \
    if                                                                                             \
    :: me == victim -> dead = true; goto ended                                                     \
    :: true                                                                                        \
    fi

inline ring() { bell++; auditor_asleep = false }

inline wake_ranks()
{
    d_step {
        w = 0;
        do
        :: w < RANKS -> rank_asleep[w] = false; w++
        :: else -> break
        od;
        w = 0
    }
}

proctype rank(byte me)
{
    byte step = 1, seen, count, w;
    bool seen_sleepers;
    do
    :: step > STEPS -> break
    :: else ->
        MORTAL;
#ifdef ARRIVED_FIRST
        arrived[me] = step;
        MORTAL;
#endif
        d_step { arrivals++; count = arrivals; really[me] = step };
        MORTAL;
#ifndef ARRIVED_FIRST
        arrived[me] = step;
#endif
        MORTAL;
        if
        :: count == step * RANKS -> ring()
        :: else
        fi;
        do
        :: d_step { seen = version; seen_sleepers = sleepers; count = answered };
            if
            :: count >= step -> break
            :: aborted -> goto ended
            :: else
            fi;
            MORTAL;
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
                        :: version == seen && sleepers -> rank_asleep[me] = true
                        :: else
                        fi
                    };
                    !rank_asleep[me]
                :: else
                fi;
                sleeps_on[me] = false
            :: else
            fi
        od;
        assert(answered >= step);
        step++
    od;
ended:
    skip
}

inline end_run()
{
    other = 0;
    aborted = true;
    do
    :: other < RANKS ->
        if
        :: sleeps_on[other] -> version++; wake_ranks()
        :: else
        fi;
        other++
    :: else -> break
    od
}

proctype auditor()
{
    byte step = 1, rung, i, w, other;
    bool late, had;
    do
    :: step > STEPS -> break
    :: else ->
        do
        :: rung = bell;
            if
            :: arrivals >= step * RANKS -> break
            :: else
            fi;
            late = false;
            d_step {
                i = 0;
                do
                :: i < RANKS -> late = late || (gone[i] && arrived[i] < step); i++
                :: else -> break
                od;
                i = 0
            };
            if
            :: late -> end_run(); goto ended
            :: else
            fi;
            d_step {
                if
                :: bell == rung -> auditor_asleep = true
                :: else
                fi
            };
            !auditor_asleep
        od;
        skip; /* a break must not jump into a d_step */
        d_step {
            i = 0;
            do
            :: i < RANKS -> assert(really[i] >= step); i++
            :: else -> break
            od;
            i = 0
        };
        d_step { answered = step; version++; had = sleepers; sleepers = false };
        if
        :: had -> wake_ranks()
        :: else
        fi;
        step++
    od;
ended:
    skip
}

proctype launcher()
{
end:
    dead;
    gone[victim] = true;
#ifndef NO_RING
    ring()
#endif
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
        :: i < RANKS -> run rank(i); i++
        :: else -> break
        od;
        run auditor();
        run launcher()
    }
}
