#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh CXX INCLUDE_DIR PRECOMPILED_DIR FILE: FILE does not compile, and the compiler says what the line `// error: TEXT` in it wants, and
# every further such line, in not more lines than a line `// lines at most: N` allows; with -DFIXED it does compile. Lines that quote
# the source do not count: gcc 14 quotes it with each note.
set -eu
cxx=$1
include=$2
precompiled=$3  # where gcc finds nacre/nacre.hpp.gch
file=$4
"$cxx" -std=c++20 -fsyntax-only -DFIXED -I "$precompiled" -I "$include" "$file" || { echo "the repaired program does not compile" >&2; exit 1; }
if output=$("$cxx" -std=c++20 -fsyntax-only -I "$precompiled" -I "$include" "$file" 2>&1); then
  echo "it compiles" >&2
  exit 1
fi
sed -n 's,^// error: ,,p' "$file" | while IFS= read -r text; do
  printf '%s\n' "$output" | grep -qF -e "$text" || { printf '%s\n\nexpected: %s\n' "$output" "$text" >&2; exit 1; }
done
most=$(sed -n 's,^// lines at most: ,,p' "$file")
lines=$(printf '%s\n' "$output" | grep -cvE '^ *[0-9]* \| ')
[ -z "$most" ] || [ "$lines" -le "$most" ] || { printf '%s\n\n%s lines\n' "$output" "$lines" >&2; exit 1; }
