/* The launcher's look at ranks that move: is nobody accused who may still act, and nobody missed?
 *
 * Model of seg/rest.h, seg/needs.h and the detector of run. RANKS ranks make OPS steps each: a
 * message to another rank, which is buffered, or a wait for one. A rank that waits may be woken for
 * nothing once. A rank that waits for one that has ended gives up. The detector reads, in single
 * steps, the rest words, then the conditions, then the rest words again; it looks when there is
 * news, and again where somebody was awake in a wait or the reading was not steady.
 *
 * Collectives are left out: their needs are members that have not signed, as a receive needs its
 * sender, and members that are awake inside the call, which act and so are never part of a claim.
 *
 * (NO_SPURIOUS: nobody is woken for nothing, for larger models.)
 *
 *   claimed[r]   the detector said that r is deadlocked: r must never act again
 *   at rest      when nothing moves any more, everybody has ended or is claimed
 *
 * Variants that must fail: ACT_ASLEEP (act first, then make the rest word even), SAME_NUMBER (the
 * word comes back to the old number after an act), ONE_LOOK (no second look at the rest words),
 * NO_AGAIN (no other look where somebody was awake in a wait: a rank that was told of for nothing
 * just then is missed).
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef OPS
#define OPS 2
#endif

byte rest[RANKS];    /* even: awake */
byte peer[RANKS];    /* whom it waits for; published before the word is odd */
bool waiting[RANKS]; /* on the board: in a wait, asleep or awake */
bool exited[RANKS];  /* the kernel knows */
bool ended[RANKS];   /* the launcher has told everybody */
byte sent[RANKS * RANKS]; /* messages from i to j that nobody took: [i * RANKS + j] */
bool news;
bool claimed[RANKS];

#define THERE(from, to) sent[(from) * RANKS + (to)]

proctype rank(byte me)
{
    byte ops, from;
    bool told, woken;
    do
    :: ops == OPS -> break
    :: ops < OPS ->
        ops++;
        select(from : 0 .. (RANKS - 1));
        if
        :: from != me -> THERE(me, from)++ /* send */
        :: true -> goto receive
        fi;
        goto next;
receive:
        told = false;
        woken = false;
        if
        :: THERE(from, me) > 0 -> atomic { assert(!claimed[me]); THERE(from, me)--; } goto next
        :: else
        fi;
#ifndef SAME_NUMBER
        rest[me] = rest[me] + 2;
#endif
        peer[me] = from;
        waiting[me] = true;
sleep:
        rest[me] = rest[me] | 1;
        if
        :: !told -> news = true; told = true
        :: else
        fi;
end_asleep:
        if
        :: THERE(from, me) > 0
        :: ended[from]
#ifndef NO_SPURIOUS
        :: !woken -> woken = true
#endif
        fi;
#ifndef ACT_ASLEEP
        rest[me] = rest[me] & 254;
#endif
        if
        :: THERE(from, me) > 0 -> atomic { assert(!claimed[me]); THERE(from, me)--; }
        :: THERE(from, me) == 0 && ended[from] ->
            assert(!claimed[me]);
            ops = OPS /* the call breaks, and its rank ends */
        :: THERE(from, me) == 0 && !ended[from] -> rest[me] = rest[me] & 254; goto sleep
        fi;
        rest[me] = rest[me] & 254;
        waiting[me] = false;
next:
        skip
    od;
    atomic {
        exited[me] = true;
        news = true;
    }
}

active proctype detector()
{
    byte i, first[RANKS], whom[RANKS];
    bool acts[RANKS], steady, again, more;
    do
    :: news ->
        news = false;
        for (i : 0 .. (RANKS - 1)) {
            acts[i] = false;
            ended[i] = ended[i] || exited[i]
        }
        for (i : 0 .. (RANKS - 1)) {
            first[i] = rest[i];
            whom[i] = peer[i];
        }
        again = false;
        for (i : 0 .. (RANKS - 1)) {
            if
            :: ended[i] -> skip
            :: !ended[i] && first[i] % 2 == 0 ->
                acts[i] = true;
#ifndef NO_AGAIN
                again = again || waiting[i];
#endif
            :: !ended[i] && first[i] % 2 == 1 ->
                acts[i] = THERE(whom[i], i) > 0 || ended[whom[i]]
            fi
        }
        steady = true;
#ifndef ONE_LOOK
        for (i : 0 .. (RANKS - 1)) {
            steady = steady && (first[i] % 2 == 0 || rest[i] == first[i])
        }
#endif
        atomic {
            more = true;
            do
            :: more ->
                more = false;
                for (i : 0 .. (RANKS - 1)) {
                    if
                    :: !acts[i] && !ended[i] && first[i] % 2 == 1 && acts[whom[i]] ->
                        acts[i] = true;
                        more = true
                    :: else
                    fi
                }
            :: else -> break
            od;
            i = 0;
            do
            :: i < RANKS ->
                claimed[i] = claimed[i] ||
                             (steady && !acts[i] && !ended[i] && first[i] % 2 == 1);
                i++
            :: else -> break
            od;
            if
            :: !steady || again -> news = true
            :: else
            fi;
            more = false;
            steady = false;
            again = false;
        }
    :: timeout ->
        for (i : 0 .. (RANKS - 1)) {
            assert(ended[i] || claimed[i])
        }
        break
    od
}

init
{
    byte r;
    atomic {
        for (r : 0 .. (RANKS - 1)) {
            run rank(r)
        }
    }
}
