#!/usr/bin/env bash
# Run one Criterion executable; a run that tested nothing is a failure.
set -u
output=$("$1" --jobs 2 2>&1)
code=$?
printf '%s\n' "$output"
if ! grep -q 'Tested: [1-9]' <<<"$output"; then
    echo "no test ran in $1" >&2
    exit 1
fi
exit $code
