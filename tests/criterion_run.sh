#!/usr/bin/env bash
# Run one Criterion executable. A run that tested nothing is a failure, and so is one in which a
# sanitizer spoke: a leak found in the process of a test does not reach Criterion's exit code.
#
# One job at a time, ctest runs executables side by side: with more, libcriterion 2.4.1 leaks some
# bytes of its own in the runner, which LeakSanitizer cannot tell from ours.
set -u
output=$("$1" --jobs 1 2>&1)
code=$?
printf '%s\n' "$output"
if ! grep -q 'Tested: [1-9]' <<<"$output"; then
    echo "no test ran in $1" >&2
    exit 1
fi
if grep -qE 'ERROR: (Address|Leak)Sanitizer|: runtime error: ' <<<"$output"; then
    echo "a sanitizer found something in $1" >&2
    exit 1
fi
exit $code
