#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_tests.sh PRESET [CTEST-ARGUMENT...]: runs the tests; then why some were skipped, and one plain line "N passed, M failed",
# or "N passed, M failed, K skipped"; exits as ctest did.
set -eu
preset=$1
shift
cd "$(dirname "$0")/.."
log=build/$preset/tests.log
status=build/$preset/tests.status

# More at a time than there are processors, as many tests wait for most of their time.
{ code=0; ctest --preset "$preset" -j "$(($(nproc) + 4))" "$@" 2>&1 || code=$?; echo "$code" >"$status"; } | tee "$log"

reasons=$(python3 tools/skipped_tests.py "build/$preset/Testing/Temporary/LastTest.log")
printf '%s\n' "$reasons" | sed '$d'
skipped=$(printf '%s\n' "$reasons" | tail -n 1)
# ctest's own summary, which counts a skipped test as passed: "98% tests passed, 2 tests failed out of 100".
sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests* failed out of \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1 |
  while read -r failed all; do
    if [ "$skipped" = 0 ]; then echo "$((all - failed)) passed, $failed failed"
    else echo "$((all - failed - skipped)) passed, $failed failed, $skipped skipped"; fi
  done
exit "$(cat "$status")"
