#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR: installs the build into a temporary prefix and builds main.cpp against it, with CMake and with pkg-config.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
: "${CXX:=c++}"
export CXX

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
cp "$here/main.cpp" "$here/CMakeLists.txt" "$scratch"
cd "$scratch"

echo "-- find_package(nacre)"
cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$scratch/prefix" >configure.log || { cat configure.log; exit 1; }
cmake --build build
build/greet --nacre.ranks=2

echo "-- pkg-config nacre"
pc=$(find prefix -name nacre.pc)
PKG_CONFIG_PATH=$scratch/$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are words
$CXX main.cpp -o greet $(pkg-config --cflags --libs nacre)
./greet --nacre.ranks=2

echo "-- the installed command"
prefix/bin/nacre run -n 2 build/greet
