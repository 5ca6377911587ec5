#!/usr/bin/env bash
# Fuzz the reader of configs: tests/fuzz/run.sh SECONDS [BUILD_DIR]
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
cmake --build "$build" --target config_fuzz -j 2

mkdir -p "$build/found"
echo "fuzzing for $seconds seconds"
cd "$build"
exec "$build/tests/fuzz/config_fuzz" "$build/found" "$here/corpus/config" \
    -dict="$here/config.dict" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1
