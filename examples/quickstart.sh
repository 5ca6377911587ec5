#!/usr/bin/env bash
# From a fresh Debian 12 to a mesh that trains: install what is missing, build, run.
#
#   examples/quickstart.sh [ARGUMENT...]     arguments go to `meshemu run configs/quickstart.yaml`
#
# Works as root and with sudo, from any folder, as often as one likes; builds in build/release.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() {
    printf 'quickstart: %s\n' "$1" >&2
}

say "1 of 3: packages"
examples/install_packages.sh build-essential cmake ninja-build pkg-config libyaml-dev \
    libjansson-dev libxxhash-dev >&2

say "2 of 3: build of build/release (log: build/quickstart-build.log)"
if ! mkdir -p build || [ ! -w build ]; then
    say "build/ cannot be written by $(id -un): it may belong to another user, remove it"
    exit 1
fi
if ! { cmake --preset release -DEMU_TESTS=OFF && cmake --build --preset release --target meshemu; } \
    >build/quickstart-build.log 2>&1; then
    cat build/quickstart-build.log >&2
    say "the build failed"
    exit 1
fi

say "3 of 3: build/release/meshemu run configs/quickstart.yaml $*"
exec build/release/meshemu run configs/quickstart.yaml "$@"
