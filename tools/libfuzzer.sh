#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libfuzzer.sh SECONDS [NAME]: builds every *_libfuzzer.cpp of src/ and tests/, or that one, with clang and its sanitizers, and runs
# each for that long.
# The corpus of x_libfuzzer.cpp is tests/fuzz_corpus/x; what crashes is kept in build/libfuzzer/crashes.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/libfuzzer.sh SECONDS [NAME]}
: "${CLANG:=clang++}"
command -v "$CLANG" >/dev/null || { echo "No $CLANG: apt-get install clang, or name yours in CLANG." >&2; exit 1; }

out=build/libfuzzer
mkdir -p "$out/crashes"
# Without `function`, with which clang 14 cannot compile coroutines.
flags="-std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=function"
flags="$flags -fno-sanitize-recover=all"
# As in the sanitizer builds: clang frees frames of a fiber before Boost's last one has ended.
flags="$flags -fsanitize-address-use-after-return=never"
packages="fmt libsodium libzstd hwloc tomlplusplus"
if pkg-config --exists otf2; then packages="$packages otf2"; fi
# shellcheck disable=SC2086  # the packages are words
includes="-Iinclude -Isrc -Itests $(pkg-config --cflags $packages)" libraries="$(pkg-config --libs $packages) -lboost_context -ldl -pthread"

# All of the library and of the command, so that a decoder is tested where it is used.
cmake -B "$out/library" -DCMAKE_CXX_COMPILER="$CLANG" -DCMAKE_BUILD_TYPE=None -DNACRE_TESTS=OFF -DNACRE_BENCH=OFF \
  -DCMAKE_CXX_FLAGS="$flags -fsanitize=fuzzer-no-link" >"$out/cmake.log"
cmake --build "$out/library" -j2 --target nacre nacre_tool >"$out/build.log" || { tail -40 "$out/build.log" >&2; exit 1; }
archives=$(for name in tool calibration program_options; do find "$out/library" -name "libnacre_$name.a"; done)
archives="$archives $(find "$out/library" -name libnacre.a)"

targets=$(find src tests -name "${2:-*}_libfuzzer.cpp" | sort)
[ -n "$targets" ] || { echo "There is no ${2:-*}_libfuzzer.cpp below src/ or tests/." >&2; exit 1; }
for target in $targets; do
  name=$(basename "$target" _libfuzzer.cpp)
  corpus=tests/fuzz_corpus/$name
  mkdir -p "$corpus" "$out/found/$name"
  echo "== $name: $seconds s"
  # shellcheck disable=SC2086  # flags, archives and libraries are words
  "$CLANG" $flags $includes -fsanitize=fuzzer "$target" $archives $libraries -o "$out/$name"
  # New inputs go to the first folder, so that the checked-in corpus grows only by hand.
  "$out/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$name-" "$out/found/$name" "$corpus"
done
