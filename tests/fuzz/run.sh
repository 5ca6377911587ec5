#!/usr/bin/env bash
# Fuzz the readers of configs and of scripts: tests/fuzz/run.sh SECONDS [BUILD_DIR], half of the time each.
# New inputs stay in the build directory; a crash, hang or leak ends the run and leaves its input there.
set -eu
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [BUILD_DIR]}
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=${2:-$source/build/fuzz}

mkdir -p "$build"
echo "building the fuzzer in $build"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DEMU_FUZZ=ON -DEMU_TESTS=ON \
    -DEMU_SANITIZE=address,undefined >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --target config_fuzz script_fuzz -j 2

cd "$build"
for reader in config script; do
    mkdir -p "$build/found/$reader"
    echo "fuzzing the reader of ${reader}s for $(((seconds + 1) / 2)) seconds"
    "$build/tests/fuzz/${reader}_fuzz" "$build/found/$reader" "$here/corpus/$reader" \
        -dict="$here/$reader.dict" -max_total_time=$(((seconds + 1) / 2)) -max_len=8192 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1
done
