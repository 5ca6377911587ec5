#!/usr/bin/env bash
# Does what is installed work for somebody who has only that?
#
# Installs build/release into a scratch prefix, builds the examples against it with CMake's find_package
# and with pkg-config, in C and in C++, runs them, and looks for what else was promised. The last line
# is `N passed, N failed`.
# shellcheck disable=SC2317 # most functions are called through check
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
passed=0
failed=0

# check WHAT COMMAND...: one test; what the command says is shown where it fails
check() {
    local what=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        echo "PASS $what"
        passed=$((passed + 1))
    else
        echo "FAIL $what"
        sed 's/^/    /' "$scratch/log"
        failed=$((failed + 1))
        return 1
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}

build() {
    cmake --preset release -DEMU_TESTS=OFF && cmake --build --preset release
}

says_version() {
    local version
    version=$(sed -n 's/^project(meshemu VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    [ "$("$prefix/bin/meshemu" --version)" = "meshemu $version" ]
}

# Where the library is: the prefix is not one that the loader knows.
library_folder() {
    dirname "$(find "$prefix" -name 'libmeshemu.*' | head -n 1)"
}

completes() {
    # shellcheck disable=SC2016 # for the inner shell
    bash -c 'source "$1" && complete -p meshemu' - "$prefix/share/bash-completion/completions/meshemu"
}

build_with_cmake() {
    cmake -S examples -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$scratch/cmake"
}

# build_with_pkg_config COMPILER... : of hello_ranks.c, into $scratch/hello
build_with_pkg_config() {
    local flags
    flags=$(PKG_CONFIG_PATH=$(library_folder)/pkgconfig pkg-config --cflags --libs meshemu) || return
    # shellcheck disable=SC2086 # flags are words
    "$@" examples/hello_ranks.c -x none -Wall -Werror -o "$scratch/hello" $flags
}

greets() {
    [ "$(LD_LIBRARY_PATH=$(library_folder) "$1" dp=3,tp=2 | grep -c 'hello from rank [0-5] of 6')" -eq 6 ]
}

refuses_a_bad_mesh() {
    "$scratch/cmake/hello_ranks" dp=0
    [ $? -eq 3 ]
}

check "build" build || finish
check "install" cmake --install build/release --prefix "$prefix" || finish
check "the program knows its version" says_version
check "the program runs a mesh" "$prefix/bin/meshemu" mesh dp=2,tp=2
check "man page" test -s "$prefix/share/man/man1/meshemu.1"
check "bash completion" completes
check "headers are all there" diff -r include/meshemu "$prefix/include/meshemu"
if check "examples build with find_package" build_with_cmake; then
    check "hello_ranks" greets "$scratch/cmake/hello_ranks"
    check "all_reduce_axis" "$scratch/cmake/all_reduce_axis" "dp=2,tp=3"
    check "data_parallel_step" "$scratch/cmake/data_parallel_step"
    check "a mesh that does not exist is refused" refuses_a_bad_mesh
fi
check "C with pkg-config" build_with_pkg_config gcc -std=c17 &&
    check "hello_ranks, C with pkg-config" greets "$scratch/hello"
check "C++ with pkg-config" build_with_pkg_config g++ -std=c++17 -x c++ &&
    check "hello_ranks, C++ with pkg-config" greets "$scratch/hello"
finish
