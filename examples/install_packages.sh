#!/usr/bin/env bash
# Install those of the named Debian packages that are missing.
#
#   install_packages.sh PACKAGE...
#
# Touches nothing where all are there. As root it calls apt-get itself, as anyone else through sudo.
set -eu

missing=()
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) || state=
    case $state in
    ?i*) ;;
    *) missing+=("$package") ;;
    esac
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "packages: all $# are installed"
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "packages: missing ${missing[*]}; install them as root, or install sudo" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "packages: installing ${missing[*]}"
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=600 -qq "$@" </dev/null
}
apt update
apt install -y --no-install-recommends "${missing[@]}" >/dev/null
