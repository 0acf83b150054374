#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD_DIR: what the README shows is built by `make demo`, and `cmake --install` says what to build where a part is
# missing; programs that nobody has built it leaves out, unless the component tools is asked for.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

target=$(sed -n 's/.*cmake --build --preset release .*--target \([a-z_]*\)$/\1/p' "$root/Makefile")
ninja -C "$build" -t commands "$target" | sed -n 's|.* -o \([^ ]*/\)\{0,1\}bin/\([^ ]*\) .*|\2|p' | sort -u >"$scratch/built"
sed -n 's|.*build/release/bin/\([a-z0-9_]*\).*|\1|p' "$root/README.md" | sort -u >"$scratch/shown"
sed -n '/^tools/d; s|^.*/bin/||p' "$build/nacre_installed_files.txt" | sort >"$scratch/installed"
for list in shown installed; do
  [ -s "$scratch/$list" ] || { echo "demo.sh finds nothing that is $list" >&2; exit 1; }
  missing=$(comm -23 "$scratch/$list" "$scratch/built")
  [ -z "$missing" ] || { echo "make demo does not build what is $list:" $missing >&2; exit 1; }
done

# says CODE TEXT OPTION...: the look at what is to be installed ends with CODE and says TEXT.
says() {
  code=0
  expected=$1 text=$2
  shift 2
  cmake -DNACRE_INSTALLED_FILES="$scratch/files" -DNACRE_BUILD="$build" "$@" -P "$root/cmake/check_built.cmake" \
    >"$scratch/said" 2>&1 || code=$?
  [ -s "$scratch/said" ] || echo "nothing" >"$scratch/said"
  { [ "$code" = "$expected" ] && tr -s ' \n' ' ' <"$scratch/said" | grep -qF "$text"; } ||
    { echo "expected $expected and '$text', got $code and:" >&2; cat "$scratch/said" >&2; exit 1; }
}
hint="cmake --build $build --target"
printf 'dev|%s\ntools|%s\n' "$scratch/no_such_part.so" "$scratch/no_such_tool" >"$scratch/files"
says 1 "no_such_part.so is not built yet: $hint nacre_package"
says 1 "no_such_part.so is not built yet: $hint nacre_package" -DCMAKE_INSTALL_COMPONENT=dev
says 1 "no_such_tool is not built yet: $hint nacre_tools" -DCMAKE_INSTALL_COMPONENT=tools
says 0 nothing -DCMAKE_INSTALL_COMPONENT=runtime
touch "$scratch/no_such_part.so"
says 0 "Left out, because not built: no_such_tool ($hint nacre_tools)"
grep -q check_built "$build/cmake_install.cmake" || { echo "cmake --install does not look" >&2; exit 1; }
