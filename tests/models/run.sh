#!/usr/bin/env bash
# Check the models of the wait protocols with spin: every model without an error, and an error from
# every variant that is known to be broken (a check that cannot fail proves nothing).
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# check MODEL WANTED [DEFINE...]: WANTED is "holds" or "fails"
check() {
    local model=$1 wanted=$2 defines=() output states errors verdict
    shift 2
    for define in "$@"; do defines+=("-D$define"); done
    cp "$here/$model" .
    if ! spin "${defines[@]}" -a "$model" >spin.out 2>&1 || ! gcc -O2 -w -DSAFETY -o pan pan.c; then
        cat spin.out
        echo "$model $*: could not be built"
        failures=$((failures + 1))
        return
    fi
    output=$(./pan -m1000000 -w24 -n 2>&1)
    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' <<<"$output")
    errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' <<<"$output")
    verdict=holds
    [[ ${errors:-1} == 0 && ${states:-0} -gt 100 ]] || verdict=fails
    if grep -q 'max search depth too small\|out of memory\|hash conflicts: *-' <<<"$output"; then
        verdict="incomplete"
    fi
    printf '%-12s %-39s %s, %s states\n' "$model" "${*:-}" "$verdict" "${states:-no}"
    if [[ $verdict != "$wanted" ]]; then
        echo "$model $*: wanted that it $wanted"
        printf '%s\n' "$output" | head -n 20
        failures=$((failures + 1))
    fi
}

check slot.pml holds MEMBERS=2
check slot.pml holds MEMBERS=3 CALLS=1 NO_ABORT
check slot.pml holds MEMBERS=2 CALLS=3 NO_ABORT
check slot.pml holds MEMBERS=2 FOLDS
check slot.pml holds MEMBERS=3 CALLS=1 NO_ABORT FOLDS
check slot.pml holds MEMBERS=3 CREWS=2 CALLS=1 NO_ABORT
check slot.pml holds MEMBERS=3 CREWS=2 CALLS=1 NO_ABORT FOLDS
check slot.pml holds MEMBERS=2 CREWS=1 CALLS=3 NO_ABORT
check slot.pml fails MEMBERS=3 CREWS=2 CALLS=1 NO_ABORT FIRST_COUNTS
check slot.pml fails MEMBERS=2 CREWS=1 NO_ABORT LEAVES_FOR_ALL
check slot.pml fails MEMBERS=2 ABORT_OUTSIDE
check slot.pml fails MEMBERS=2 NO_TICK
check slot.pml fails MEMBERS=2 NO_SETTLE
check slot.pml fails MEMBERS=2 DONE_FIRST
check slot.pml fails MEMBERS=2 FOLDS FOLD_LATE
check slot.pml fails MEMBERS=2 FOLDS NO_SETTLE
check loan.pml holds MEMBERS=2
check loan.pml holds MEMBERS=3 UNITS=1 NO_ABORT
check loan.pml holds MEMBERS=2 MIXED
check loan.pml holds MEMBERS=3 MIXED NO_ABORT
check loan.pml fails MEMBERS=3 UNITS=1 NO_ABORT NO_TICK
check loan.pml fails MEMBERS=3 UNITS=1 NO_ABORT LOOK_FIRST
check loan.pml fails MEMBERS=3 UNITS=1 NO_ABORT NO_QUIET
check loan.pml fails MEMBERS=3 UNITS=1 NO_ABORT WAKE_CLEARS
check loan.pml fails MEMBERS=3 UNITS=1 NO_ABORT WAKE_NONE
check loan.pml fails MEMBERS=2 LEADERS=1 NO_FALLBACK
check loan.pml fails MEMBERS=2 GONE_LAST
check loan.pml fails MEMBERS=2 MIXED FORGET_ROUNDS
check gate.pml holds
check gate.pml fails ARRIVED_FIRST
check gate.pml fails NO_RING
check detector.pml holds RANKS=2
check detector.pml holds RANKS=3 OPS=1 NO_SPURIOUS
check detector.pml fails RANKS=2 ACT_ASLEEP
check detector.pml fails RANKS=2 ONE_LOOK
check detector.pml fails RANKS=2 NO_AGAIN
check detector.pml fails RANKS=2 OPS=3 SAME_NUMBER
exit $((failures > 0))
