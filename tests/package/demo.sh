#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD_DIR: what the README shows is built by `make demo`, and `cmake --install` says what to build where a part is
# missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

target=$(sed -n 's/.*cmake --build --preset release .*--target \([a-z_]*\)$/\1/p' "$root/Makefile")
ninja -C "$build" -t commands "$target" | sed -n 's|.* -o \([^ ]*/\)\{0,1\}bin/\([^ ]*\) .*|\2|p' | sort -u >"$scratch/built"
sed -n 's|.*build/release/bin/\([a-z0-9_]*\).*|\1|p' "$root/README.md" | sort -u >"$scratch/shown"
sed -n 's|^.*/bin/||p' "$build/nacre_installed_files.txt" | sort >"$scratch/installed"
for list in shown installed; do
  [ -s "$scratch/$list" ] || { echo "demo.sh finds nothing that is $list" >&2; exit 1; }
  missing=$(comm -23 "$scratch/$list" "$scratch/built")
  [ -z "$missing" ] || { echo "make demo does not build what is $list:" $missing >&2; exit 1; }
done

echo "$scratch/no_such_part.so" >"$scratch/files"
if cmake -DNACRE_INSTALLED_FILES="$scratch/files" -DNACRE_BUILD="$build" -P "$root/cmake/check_built.cmake" 2>"$scratch/said"; then
  echo "a part that is missing was not noticed" >&2
  exit 1
fi
tr -s ' \n' ' ' <"$scratch/said" |
  grep -q "no_such_part.so is not built yet: cmake --build $build --target nacre_package" || { cat "$scratch/said" >&2; exit 1; }
grep -q check_built "$build/cmake_install.cmake" || { echo "cmake --install does not look" >&2; exit 1; }
