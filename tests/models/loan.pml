/* Are buffers that are lent worked on by somebody, and by nobody once their owner has its answer?
 *
 * The protocol of emu/seg/loan.h and of emu/comm/shm_collective.c for one call: MEMBERS members lend
 * their buffers, the first LEADERS of them are leaders, the work is UNITS units. Member 0 may start
 * the call and do something else until the call is over for another member. One member may die
 * between any two steps; the launcher then does what emu_segment_fail_rank does. Somebody may end the
 * run at any time.
 *
 * With MIXED the last member does not lend: the group goes in rounds, of which there is one after the
 * signatures.
 *
 * Checked: no invalid end state (somebody works whenever all have lent; nobody sleeps for ever); one
 * outcome for all that return; COMPLETE only if all units are done; no unit is written after any
 * living member had its answer, unless the run was ended.
 *
 * The word is (decision, fresh, sleepers): a bit of `fresh` says that the word is as that member last
 * saw it, but for the SLEEPERS bit. A member sleeps in lane WORK or not. A member dies where it has
 * just written something that others read, or where it waits: elsewhere is the same to them.
 *
 * Variants that must fail:
 *   NO_TICK       a worker that leaves a broken call does not change the word
 *   LOOK_FIRST    a worker looks whether the call is lent before it says that it works
 *   NO_QUIET      an owner does not ask whether somebody works
 *   WAKE_CLEARS   who wakes the leaders clears the SLEEPERS bit of those that sleep on
 *   WAKE_NONE     leaders sleep where only the end wakes
 *   NO_FALLBACK   who comes last does not work where no leader waits
 *   GONE_LAST     the launcher marks the dead as gone after it has told
 *   FORGET_ROUNDS (MIXED) the launcher takes a lender for through though it owes a round
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef LEADERS
#define LEADERS 2
#endif
#ifndef UNITS
#define UNITS 2
#endif
#define NONE 255

mtype = { OPEN, MATCHED, LENT, COMPLETE, PEER, UNKNOWN, ABORTED };

mtype decision = OPEN, outcome = UNKNOWN;
byte fresh;
bool sleepers;
byte deposited, last_round, next_unit, units_done;
bool waits[MEMBERS], works[MEMBERS], done[MEMBERS], gone[MEMBERS];
bool answered[MEMBERS], dead[MEMBERS];
bool broken, aborted, over; /* over: the call is, for somebody */
bool sleeps_on[MEMBERS], asleep[MEMBERS], work_lane[MEMBERS];
byte victim;

#define SAME (fresh & (1 << me))

#define MORTAL                                                                                     \
    if                                                                                             \
    :: me == victim -> goto fell                                                                   \
    :: true                                                                                        \
    fi

inline wake(lane_only)
{
    d_step {
        w = 0;
        do
        :: w < MEMBERS ->
            if
            :: !(lane_only) || work_lane[w] -> asleep[w] = false
            :: else
            fi;
            w++
        :: else -> break
        od;
        w = 0
    }
}

inline shift(from, to)
{
    d_step {
        had = false;
        if
        :: decision == from ->
            decision = to; fresh = 0; had = sleepers;
#ifndef WAKE_CLEARS
            sleepers = sleepers && to == LENT
#else
            sleepers = false
#endif
        :: else
        fi
    };
    if
    :: had -> MORTAL; wake(to == LENT)
    :: else
    fi;
    had = false
}

inline tick()
{
    d_step { fresh = 0; had = sleepers; sleepers = false };
    if
    :: had -> MORTAL; wake(false)
    :: else
    fi;
    had = false
}

inline judge()
{
#ifdef MIXED
    shift(OPEN, MATCHED)
#else
    shift(OPEN, LENT)
#endif
}

/* End what is undecided; from the breach on (here) it is broken. */
inline settle(here)
{
    if
    :: decision == OPEN && deposited == MEMBERS -> judge()
    :: else
    fi;
#ifdef MIXED
    if
    :: decision == MATCHED && last_round == MEMBERS -> shift(MATCHED, COMPLETE)
    :: else
    fi;
#endif
    if
    :: here && deposited > 0 ->
        shift(OPEN, PEER);
#ifdef MIXED
        shift(MATCHED, PEER)
#else
        shift(LENT, PEER)
#endif
    :: else
    fi
}

inline sleep_on_word()
{
    if
    :: !seen_sleepers ->
        d_step {
            if
            :: SAME && !sleepers -> sleepers = true; seen_sleepers = true
            :: else
            fi
        }
    :: else
    fi;
    if
    :: seen_sleepers ->
        d_step {
            sleeps_on[me] = true;
#ifndef WAKE_NONE
            work_lane[me] = will_work
#endif
        };
        if
        :: !aborted ->
            d_step {
                if
                :: SAME && sleepers -> asleep[me] = true
                :: else
                fi
            };
            !asleep[me]
        :: else
        fi;
        d_step { sleeps_on[me] = false; work_lane[me] = false }
    :: else
    fi;
    seen_sleepers = false
}

/* A unit is written to the buffers of all. */
inline write_unit()
{
    d_step {
        w = 0;
        do
        :: w < MEMBERS -> assert(aborted || !answered[w]); w++
        :: else -> break
        od;
        w = 0
    }
}

inline work()
{
    d_step {
        will_work = false;
        fresh = fresh & ~(1 << me);
        seen_sleepers = false;
        seen_decision = OPEN
    };
#ifdef LOOK_FIRST
    count = (decision == LENT);
    MORTAL;
    works[me] = true;
#else
    works[me] = true;
    MORTAL;
    count = (decision == LENT);
#endif
    mine = 0;
    do
    :: !count -> break
    :: else ->
        d_step { unit = next_unit; next_unit++ };
        if
        :: unit >= UNITS -> next_unit = UNITS; break
        :: else
        fi;
        MORTAL;
        write_unit();
        mine++;
        count = (decision == LENT)
    od;
    works[me] = false;
    MORTAL;
    if
    :: decision != LENT ->
#ifndef NO_TICK
        tick()
#else
        skip
#endif
    :: else ->
        d_step { units_done = units_done + mine; count = (mine > 0 && units_done == UNITS) };
        MORTAL;
        if
        :: count -> shift(LENT, COMPLETE)
        :: else
        fi
    fi;
    d_step { count = 0; mine = 0; unit = 0 }
}

inline answer(what)
{
    d_step {
        answered[me] = true;
        over = true;
        fresh = fresh & ~(1 << me);
        if
        :: what == ABORTED
        :: else ->
            assert(outcome == UNKNOWN || outcome == what);
#ifdef MIXED
            assert(what != COMPLETE || last_round == MEMBERS);
#else
            assert(what != COMPLETE || units_done == UNITS);
#endif
            outcome = what
        fi
    }
}

inline is_quiet()
{
    quiet = true;
#ifndef NO_QUIET
    count = 0;
    do
    :: count == MEMBERS -> break
    :: else ->
        if
        :: works[count] && !gone[count] -> quiet = false
        :: else
        fi;
        count++
    od;
    count = 0
#endif
}

proctype member(byte me)
{
    byte count, w, unit, mine;
    bool seen_sleepers, had, will_work = (me < LEADERS), quiet, away, gave;
    mtype seen_decision;

#ifndef MIXED /* a round needs its member to wait somewhere */
    if
    :: me == 0 -> away = true
    :: true
    fi;
#endif
    waits[me] = !away && me < LEADERS;
    d_step { deposited++; count = deposited };
    MORTAL;
    if
    :: count < MEMBERS ->
#ifdef MIXED
        done[me] = (me != MEMBERS - 1)
#else
        done[me] = true
#endif
    :: else ->
#ifndef NO_FALLBACK
        /* will_work is false unless it leads itself */
        d_step {
            w = 0; had = false;
            do
            :: w < LEADERS -> had = had || (w != me && waits[w]); w++
            :: else -> break
            od;
            w = 0;
            will_work = will_work || !had;
            had = false
        };
#endif
        MORTAL;
        judge();
        MORTAL;
#ifdef MIXED
        done[me] = (me != MEMBERS - 1)
#else
        /* in the same call as the judgement, wherever its rank waits */
        done[me] = true;
        if
        :: decision == LENT && will_work -> work()
        :: else
        fi
#endif
    fi;
    count = 0;
    MORTAL;
    if
    :: away ->
        (over || aborted || broken || gone[1] || gone[MEMBERS - 1]);
        away = false;
        waits[me] = me < LEADERS
    :: else
    fi;
    do
    :: d_step { fresh = fresh | (1 << me); seen_sleepers = sleepers; seen_decision = decision };
        if
        :: seen_decision == COMPLETE -> answer(COMPLETE); break
        :: seen_decision == PEER ->
            is_quiet();
            if
            :: quiet -> answer(PEER); break
            :: else ->
                if
                :: aborted -> answer(ABORTED); break
                :: else -> sleep_on_word()
                fi
            fi
#ifdef MIXED
        :: seen_decision == MATCHED && !gave ->
            gave = true;
            MORTAL;
            d_step { last_round++; count = last_round };
            MORTAL;
            done[me] = true;
            MORTAL;
            if
            :: count == MEMBERS -> shift(MATCHED, COMPLETE)
            :: else
            fi;
            count = 0
#else
        :: seen_decision == LENT && will_work -> work()
#endif
        :: else ->
            if
            :: broken -> settle(true)
            :: else ->
                if
                :: aborted -> answer(ABORTED); break
                :: else -> sleep_on_word()
                fi
            fi
        fi;
        MORTAL
    od;
    goto ended;
fell:
    dead[me] = true;
ended:
    skip; /* one must not jump into a d_step */
    d_step {
        count = 0; unit = 0; mine = 0; w = 0;
        seen_sleepers = false; had = false; will_work = false; quiet = false; away = false; gave = false;
        seen_decision = OPEN
    }
}

proctype launcher()
{
    byte w, me = 254; /* never the victim */
    bool had;
end:
    (dead[0] || dead[1] || dead[MEMBERS - 1]);
#ifndef GONE_LAST
    gone[victim] = true;
#endif
    /* emu_ring_next_of */
#ifndef FORGET_ROUNDS
    broken = (!done[victim] || decision == OPEN || decision == LENT || decision == MATCHED);
#else
    broken = (!done[victim] || decision == OPEN || decision == LENT);
#endif
    settle(broken);
    d_step { fresh = 0; sleepers = false };
    wake(false);
#ifdef GONE_LAST
    gone[victim] = true;
#endif
fell:
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
            :: sleeps_on[other] -> fresh = 0; wake(false)
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
        :: victim = 1
        :: victim = MEMBERS - 1
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
