#!/usr/bin/env bash
# Are the copied suites still what they were copied from?
#
# The folders beside this script are copies. Where a reference folder lies beside the checkout
# (../shared) every copy must equal it, file by file; where it does not, there is nothing to compare.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
reference=$root/../shared
folders=(scenarios gradients truths tools)

if [ ! -d "$reference" ]; then
    echo "suites: no reference folder beside the checkout, nothing to compare"
    echo "0 passed, 0 failed"
    exit 0
fi
passed=0
failed=0
for folder in "${folders[@]}"; do
    if diff -r -x __pycache__ "$reference/$folder" "$here/$folder"; then
        passed=$((passed + 1))
    else
        echo "suites: tests/suites/$folder differs from the reference folder" >&2
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
