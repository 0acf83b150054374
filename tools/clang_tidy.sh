#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang_tidy.sh [FILE...]: the checks of .clang-tidy over these sources, or over those that differ from the last commit; `--all` is
# every source. Needs clang-tidy 16 or later and `cmake --preset editor`.
set -eu
cd "$(dirname "$0")/.."
found=
for name in clang-tidy-16 clang-tidy; do
  if command -v "$name" >/dev/null; then found=$name; break; fi
done
[ -n "$found" ] || { echo "clang_tidy.sh: skipped: there is no clang-tidy (apt-get install clang-tidy-16)"; exit 77; }
commands=build/editor/compile_commands.json
[ -f "$commands" ] || { echo "clang_tidy.sh: there is no $commands: cmake --preset editor" >&2; exit 1; }

case ${1:-} in
  --all) files=$(find src apps bench examples tests -name '*.cpp') ;;
  "") files=$(git diff --name-only --diff-filter=d HEAD -- '*.cpp') ;;
  *)
    files=
    for file; do
      file=${file#"$PWD/"}
      file=${file#./}
      grep -qF "/$file\"" "$commands" || { echo "clang_tidy.sh: $file is no source that is compiled: write it from the root" >&2; exit 1; }
      files="$files $file"
    done
    ;;
esac
# Only what is compiled has a command: not the programs that must fail to compile, nor fuzzers of decoders.
for file in $files; do
  if grep -qF "/$file\"" "$commands"; then printf '%s\0' "$file"; fi
done | xargs -0 -r -P "$(nproc 2>/dev/null || echo 2)" -n 1 "$found" -p build/editor --quiet
