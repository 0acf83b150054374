#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# expect.sh COUNT LINE... PROGRAM [ARGUMENT...]: fails unless PROGRAM exits with 0 and prints each of the COUNT lines.
count=$1
shift
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
while [ "$count" -gt 0 ]; do
  printf '%s\n' "$1" >>"$lines"
  shift
  count=$((count - 1))
done
output=$("$@")
code=$?
printf '%s\n' "$output"
[ "$code" = 0 ] || exit "$code"
while IFS= read -r line; do
  printf '%s\n' "$output" | grep -qxF -e "$line" || { echo "expected the line: $line" >&2; exit 1; }
done <"$lines"
