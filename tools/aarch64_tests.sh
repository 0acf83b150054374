#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# aarch64_tests.sh [TARGET...]: compiles Nacre for aarch64 and runs its unit tests, or those named, under qemu on this machine.
#
# Installs the cross compiler, qemu and the libraries of the architecture arm64, so run it where that may be done, as in a
# fresh root: tools/fresh_root.sh trixie "sh tools/aarch64_tests.sh". Prints a line for each test program; fails if one fails.
# The order of memory is that of this machine's processor: where it is x86, which keeps stores in order, a barrier that is
# missing for aarch64 stays hidden.
set -eu
cd "$(dirname "$0")/.."
build=build/aarch64

foreign="libc6-dev libgtest-dev libfmt-dev libtomlplusplus-dev libboost-context-dev libsodium-dev libhwloc-dev libzstd-dev"
packages="cmake ninja-build pkg-config python3 g++ g++-aarch64-linux-gnu qemu-user libcli11-dev nlohmann-json3-dev libexpected-dev"
for package in $foreign; do packages="$packages $package:arm64"; done
dpkg --add-architecture arm64
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages

cmake -S . -B $build -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64_toolchain.cmake -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DNACRE_REPOSITORY_TESTS=OFF
if [ $# -eq 0 ]; then
  set -- base_tests wire_tests trace_tests machine_tests backplane_tests exec_tests am_tests quiescence_tests mobile_tests \
    balance_tests
fi
cmake --build $build --target "$@"

passed=0 failed=0
for target in "$@"; do
  program=$(find $build -type f -name "$target" -perm -u+x | head -n 1)
  begin=$(date +%s)
  # Tests that wait for a death fork a process with threads, which the emulator of one process does not survive.
  if output=$(timeout 1800 qemu-aarch64 "$program" --gtest_brief=1 --gtest_filter='-*death*:*_aborts*' 2>&1); then
    passed=$((passed + 1)) result=passed
  else
    failed=$((failed + 1)) result=failed
    printf '%s\n' "$output" | tail -n 40
  fi
  echo "$target: $result, $(printf '%s\n' "$output" | tail -n 1), $(($(date +%s) - begin)) s"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
