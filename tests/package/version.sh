#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# version.sh PREFIX: what is installed there tells the version of the sources, and find_package refuses neighbouring versions.
# In a folder of its own, which it is called in, it configures the project of CMakeLists.txt beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1
version=$(sed -n 's/^project(nacre VERSION \([0-9.]*\) .*/\1/p' "$here/../../CMakeLists.txt")
major=${version%%.*}
patch=${version##*.}
minor=${version#*.}
minor=${minor%%.*}

fail() { echo "version.sh: $*" >&2; exit 1; }

# agree WHAT TEXT EXPECTED
agree() {
  echo "$1: $2"
  [ "$2" = "$3" ] || fail "$1 says '$2', the sources say '$3'"
}
agree "nacre --version" "$("$prefix/bin/nacre" --version)" "nacre $version"
agree "pkg-config --modversion" "$(pkg-config --modversion "$(find "$prefix" -name nacre.pc)")" "$version"

cp "$here/main.cpp" "$here/CMakeLists.txt" .
# finds VERSION
finds() { cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -Dwanted_version="$1" >configure.log 2>&1; }
for wanted in "$major.$minor" "$version"; do
  finds "$wanted" || { cat configure.log >&2; fail "find_package(nacre $wanted) does not find $version"; }
done
for wanted in "$major.$((minor - 1))" "$major.$((minor + 1))" "$((major + 1)).0" "$major.$minor.$((patch + 1))"; do
  if finds "$wanted"; then fail "find_package(nacre $wanted) takes $version"; fi
  grep -q "nacre-config.cmake, version: $version" configure.log || { cat configure.log >&2; fail "the refusal does not name $version"; }
  echo "find_package(nacre $wanted): refused"
done
