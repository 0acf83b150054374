#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libfuzzer.sh SECONDS: builds every src/**/*_libfuzzer.cpp with clang and its sanitizers and runs each for that long.
# The corpus of x_libfuzzer.cpp is tests/fuzz_corpus/x; what crashes is kept in build/libfuzzer/crashes.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/libfuzzer.sh SECONDS}
: "${CLANG:=clang++}"
command -v "$CLANG" >/dev/null || { echo "No $CLANG: apt-get install clang, or name yours in CLANG." >&2; exit 1; }

out=build/libfuzzer
rm -rf "$out/objects"  # a source that is gone must not linger
mkdir -p "$out/objects" "$out/crashes"
flags="-std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
flags="$flags -Iinclude -Isrc $(pkg-config --cflags fmt libsodium tomlplusplus)"
libraries="$(pkg-config --libs fmt libsodium tomlplusplus) -pthread"

# The decoders under test live in wire, or need nothing above it but themselves. Each object says which source it is of.
find src/base src/wire src/transport/tcp/frame.cpp src/transport/shm/ring_reader.cpp src/transport/shm/ring_writer.cpp -name '*.cpp' ! -name '*_test.cpp' ! -name '*_fuzz.cpp' ! -name '*_libfuzzer.cpp' |
  xargs -P 2 -I '{}' sh -c '"$1" $2 -fsanitize=fuzzer-no-link -c "$3" -o "$4/$(echo "$3" | tr / .).o"' \
    compile "$CLANG" "$flags" '{}' "$out/objects"

targets=$(find src -name '*_libfuzzer.cpp' | sort)
[ -n "$targets" ] || { echo "There is no *_libfuzzer.cpp below src/." >&2; exit 1; }
for target in $targets; do
  name=$(basename "$target" _libfuzzer.cpp)
  corpus=tests/fuzz_corpus/$name
  mkdir -p "$corpus" "$out/found/$name"
  echo "== $name: $seconds s"
  # shellcheck disable=SC2086  # flags and libraries are words
  "$CLANG" $flags -fsanitize=fuzzer "$target" "$out"/objects/*.o $libraries -o "$out/$name"
  # New inputs go to the first folder, so that the checked-in corpus grows only by hand.
  "$out/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$name-" "$out/found/$name" "$corpus"
done
