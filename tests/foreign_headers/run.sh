#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh CXX INCLUDE_DIR: every public header compiles behind headers of others with their macros as C++20 and as
# C++23, with GNU extensions, and with the debug mode of libstdc++; by CXX, and once by clang where it is installed.
set -eu
cxx=$1
include=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# MPI's own header is not everywhere.
(cd "$include" && find nacre -name '*.hpp' ! -name mpi.hpp) | LC_ALL=C sort | sed 's/.*/#include <&>/' >"$scratch/headers"
[ -s "$scratch/headers" ] || { echo "run.sh finds no headers in $include" >&2; exit 1; }

# Headers whose macros have short names (I, roundup, major, B0), and macros of Xlib.h, which is not everywhere.
for header in complex.h ctype.h signal.h sys/param.h sys/sysmacros.h termios.h; do echo "#include <$header>"; done >"$scratch/all.cpp"
{
  printf '#undef I\n#define I _Complex_I\n'  # some C libraries define it in every mode
  printf '#define %s\n' 'Always 2' 'Bool int' 'False 0' 'None 0L' 'Status int' 'Success 0' 'True 1'
  cat "$scratch/headers"
  echo 'int main(int argc, char** argv) { return nacre::run(argc, argv, [](nacre::runtime&) {}); }'
} >>"$scratch/all.cpp"

# compiles COMPILER OPTION...
compiles() {
  echo "-- $*"
  "$@" -fsyntax-only -Wall -Wextra -Werror -I "$include" "$scratch/all.cpp"
}
compiles "$cxx" -std=gnu++20
compiles "$cxx" -std=c++20 -D_GLIBCXX_DEBUG
compiles "$cxx" -std=gnu++2b
clang=$(command -v clang++-16 || command -v clang++) || clang=
if [ -n "$clang" ] && [ "$clang" != "$cxx" ]; then compiles "$clang" -std=gnu++2b; fi
