#!/usr/bin/env bash
# Install what is missing, build, and run the tests.
#
#   tests/run.sh [LEG...]        all legs where none is named
#
#   release     gcc, optimised, warnings are errors: every test
#   asan        clang, AddressSanitizer and UndefinedBehaviorSanitizer: every test
#   tsan        clang, ThreadSanitizer: the threaded programs
#   fuzz        libFuzzer on the readers of configs and scripts, 60 s
#   models      the wait protocols, model-checked by spin
#   suites      the program against the suites in tests/suites, and whole runs of the quickstart
#   wide        4096 ranks: a whole run, every collective, failures, nothing left
#   install     install into a scratch prefix and build the examples against it
#   quickstart  examples/quickstart.sh, called from another folder
#
# Works as root and with sudo, from any folder, as often as one likes; writes under build/ alone. The
# last line is `N passed, N failed` and counts single tests, not programs. A leg that ran no test has
# failed. Exit code 0 where nothing failed, 1 otherwise, 2 for a leg that does not exist.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1
cd "$root" || exit 1
export PYTHONDONTWRITEBYTECODE=1

all_legs=(release asan tsan fuzz models suites wide install quickstart)
packages=(build-essential cmake ninja-build pkg-config libcriterion-dev libyaml-dev libjansson-dev
    libxxhash-dev clang clang-format libclang-rt-14-dev spin python3)
passed=0
failed=0

# Add PASSED FAILED, as tally.py prints them.
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# fail TEXT: one failure that no test reports
fail() {
    echo "FAILED: $1" >&2
    count 0 1
}

# build PRESET [CMAKE ARGUMENT...]: quiet unless it fails
build() {
    local preset=$1 log
    shift
    log=build/$preset.log
    echo "building build/$preset"
    if ! { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
        cat "$log"
        fail "build of $preset"
        return 1
    fi
}

# check PRESET [CTEST ARGUMENT...]: run its tests and count them
check() {
    local preset=$1 counts
    shift
    local junit=$root/build/$preset.xml
    rm -f "$junit"
    ctest --test-dir "build/$preset" --parallel "$(nproc)" --timeout 300 --output-on-failure --output-junit "$junit" \
        --test-output-size-passed 4194304 --test-output-size-failed 4194304 "$@"
    if counts=$(python3 tests/tally.py junit "$junit"); then
        # shellcheck disable=SC2086 # two numbers
        count $counts
    else
        fail "ctest of $preset left no results"
    fi
}

# program NAME COMMAND...: run a test program, show what it says and count it
program() {
    local name=$1 code
    shift
    local log=build/$name.log
    "$@" </dev/null 2>&1 | tee "$log"
    code=${PIPESTATUS[0]}
    # shellcheck disable=SC2046 # two numbers
    count $(python3 tests/tally.py lines "$log" "$code")
    [ "$code" -eq 0 ] || echo "FAILED: $name, exit code $code" >&2
}

leg_release() {
    build release -DEMU_WERROR=ON -DEMU_TESTS=ON && check release
}

leg_asan() {
    build asan-ubsan && check asan-ubsan
}

leg_tsan() {
    build tsan && check tsan -L threads
}

leg_fuzz() {
    program fuzz tests/fuzz/run.sh 60
}

leg_models() {
    program models tests/models/run.sh
}

leg_suites() {
    program compare tests/suites/compare.sh
    build release -DEMU_TESTS=ON || return
    program score_mesh tests/suites/tools/score_mesh.py build/release/meshemu tests/suites/truths/mesh.json
    program score_gradients tests/suites/tools/score_gradients.py build/release/meshemu tests/suites/gradients
    program score_scenarios tests/suites/tools/score_scenarios.py build/release/meshemu tests/suites/scenarios --repeat 5
    program script_soak tests/script_soak.py build/release/meshemu --runs 400 --busy
    program score_run tests/score_run.py build/release/meshemu
}

leg_wide() {
    build release -DEMU_TESTS=ON || return
    program wide_4096 tests/wide_test.py build/release/meshemu 64
}

leg_install() {
    program install tests/install/run.sh
}

leg_quickstart() {
    (cd / && exec "$root/examples/quickstart.sh") </dev/null 2>&1 | tee build/quickstart.log
    local code=${PIPESTATUS[0]}
    # shellcheck disable=SC2046 # two numbers
    count $(python3 tests/tally.py lines build/quickstart.log "$code")
}

main() {
    local legs=("$@") leg before
    [ ${#legs[@]} -gt 0 ] || legs=("${all_legs[@]}")
    for leg in "${legs[@]}"; do
        if ! declare -F "leg_$leg" >/dev/null; then
            echo "usage: tests/run.sh [LEG...], legs: ${all_legs[*]}" >&2
            exit 2
        fi
    done
    if ! mkdir -p build || [ ! -w build ]; then
        echo "build/ cannot be written by $(id -un): it may belong to another user, remove it" >&2
        exit 1
    fi
    examples/install_packages.sh "${packages[@]}" || fail "packages"
    for leg in "${legs[@]}"; do
        before=$((passed + failed))
        printf '\n== %s\n' "$leg"
        "leg_$leg"
        [ $((passed + failed)) -gt "$before" ] || fail "leg $leg ran no test"
        echo "== $leg done after ${SECONDS} s"
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

main "$@"
