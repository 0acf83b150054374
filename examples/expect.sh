#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# expect.sh LINE PROGRAM [ARGUMENT...]: fails unless PROGRAM exits with 0 and, where LINE is not empty, prints that line.
line=$1
shift
output=$("$@")
code=$?
printf '%s\n' "$output"
[ "$code" = 0 ] || exit "$code"
[ -z "$line" ] || printf '%s\n' "$output" | grep -qxF -e "$line" || { echo "expected the line: $line" >&2; exit 1; }
