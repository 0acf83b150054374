#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_tests.sh PRESET [CTEST-ARGUMENT...]: runs the tests; then why some were skipped, and one plain line "N passed, M failed",
# or "N passed, M failed, K skipped"; exits as ctest did, and with 1 where that hides a failure (see test_summary.py).
set -eu
preset=$1
shift
cd "$(dirname "$0")/.."
log=build/$preset/tests.log
status=build/$preset/tests.status
last=build/$preset/Testing/Temporary/LastTest.log
rm -f "$status" "$last"  # what an earlier run has left says nothing of this one

# More at a time than there are processors, as many tests wait for most of their time. Colours would hide the summary.
{
  code=0
  CLICOLOR_FORCE=0 ctest --preset "$preset" -j "$(($(nproc) + 4))" "$@" 2>&1 || code=$?
  echo "$code" >"$status"
} | tee "$log"
code=$(cat "$status")
[ -e "$last" ] || { echo "run_tests.sh: ctest has run no test" >&2; [ "$code" != 0 ] || code=1; exit "$code"; }

summary=0
python3 tools/test_summary.py "$log" "$last" || summary=$?
[ "$code" != 0 ] || code=$summary
exit "$code"
