#!/usr/bin/env bash
# How fast are the collectives beside those of MPI on this machine?
#
#   tests/bench/compare.sh [MESHEMU]      default: build/release/meshemu
#
# Runs tests/suites/tools/mpi_bench.c and `meshemu bench` in alternation, round by round, on as many ranks and at the
# same sizes, and prints medians of ratios: above 1 meshemu is faster. Peers are Open MPI as it comes, Open MPI with
# its linear algorithms (the best for small messages) and MPICH, as far as installed. Environment:
#   RANKS    numbers of ranks, "2 8"        ROUNDS  3        SECONDS_PER_ROW  0.1        MOST  largest size, 2097152
#   HOG_RANKS     "8": barriers beside one busy process          LAUNCH_RANKS  "256": time to the first barrier, memory
# Nothing here is a test: times are printed and judged by whoever reads them. Exit code 1: no peer is installed, or a
# row was wrong.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
meshemu=${1:-$root/build/release/meshemu}
if [ ! -x "$meshemu" ]; then
    echo "compare: $meshemu is not there: cmake --preset release && cmake --build --preset release" >&2
    exit 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

peers=()
for kind in openmpi mpich; do
    if ! command -v "mpicc.$kind" >/dev/null || ! command -v "mpirun.$kind" >/dev/null; then
        echo "compare: $kind is not installed, left out"
        continue
    fi
    if ! "mpicc.$kind" -O2 -o "$scratch/$kind" "$root/tests/suites/tools/mpi_bench.c" 2>"$scratch/log"; then
        echo "compare: $kind does not compile the peer, left out:" >&2
        cat "$scratch/log" >&2
        continue
    fi
    peers+=("$kind")
    [ "$kind" = openmpi ] && peers+=(openmpi-tuned)
done
if [ ${#peers[@]} -eq 0 ]; then
    echo "compare: no MPI is installed, nothing to compare with; on Debian: openmpi-bin libopenmpi-dev, mpich libmpich-dev"
    exit 1
fi
python3 -B "$here/compare.py" "$meshemu" "$scratch" "${peers[@]}"
