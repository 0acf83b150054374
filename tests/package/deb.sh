#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD_DIR [brief]: makes the Debian packages of a build and installs them with apt into a fresh root of this machine's release,
# which holds nothing else; there it builds and runs the counter program with CMake and with pkg-config, then (unless brief) all
# examples, and removes the packages again. Needs root, debootstrap and the targets nacre_package and nacre_tools.
set -eu

# Outer part: a folder that goes away at the end, and a mount namespace, with which all mounts go away.
if [ "${1:-}" != --inside ]; then
  here=$(cd "$(dirname "$0")" && pwd)
  build=$(cd "$1" && pwd)
  cannot() { echo "deb.sh: skipped: $1"; exit 0; }
  [ "$(id -u)" = 0 ] || cannot "only root can make a root for the packages"
  for program in debootstrap dpkg-shlibdeps cpack unshare; do
    command -v "$program" >/dev/null || cannot "there is no $program (apt-get install debootstrap dpkg-dev cmake util-linux)"
  done
  scratch=$(mktemp -d /var/tmp/nacre_deb.XXXXXX)
  trap 'rm -rf --one-file-system "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  unshare --mount --propagation private sh "$here/deb.sh" --inside "$scratch" "$build" "${2:-}"
  exit
fi

scratch=$2 build=$3 brief=$4
root=$scratch/root
began=$(date +%s)
# step TEXT: the seconds since the script began, and what begins now.
step() { printf -- '-- %4d s: %s\n' $(($(date +%s) - began)) "$1"; }
# quietly COMMAND...: shows the output only where the command fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; echo "deb.sh: failed: $*" >&2; exit 1; }; }
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} chroot "$root" "$@"
}

step "cpack -G DEB"
quietly cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/debs"
for package in "$scratch"/debs/*.deb; do
  dpkg-deb --show --showformat='${Package} ${Version} ${Architecture}: ${Depends}\n' "$package"
done

# shellcheck disable=SC1091  # every Debian has it
. /etc/os-release
suite=$VERSION_CODENAME
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  grep -E " $suite[-a-z]* main\$" | sort -u >"$scratch/sources"
uri=$(sed -n "s/^deb \\([^ ]*\\) $suite main\$/\\1/p" "$scratch/sources" | head -n 1)
[ -n "$uri" ] || { echo "deb.sh: apt has no source of $suite main" >&2; exit 1; }
step "debootstrap --variant=minbase $suite"
quietly debootstrap --variant=minbase "$suite" "$root" "$uri"
cp "$scratch/sources" "$root/etc/apt/sources.list"
cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mkdir "$root/debs"
cp "$scratch"/debs/*.deb "$root/debs"
quietly inside apt-get update -q

step "apt-get install nacre, by itself"
quietly inside sh -c 'apt-get install -q -y --no-install-recommends /debs/nacre_*.deb'
inside nacre --version
inside nacre info >"$scratch/info" || { cat "$scratch/info"; exit 1; }
step "apt-get install the others, a compiler and CMake"
quietly inside sh -c 'apt-get install -q -y --no-install-recommends /debs/*.deb g++ cmake ninja-build'

cat >"$root/debs/counter.sh" <<'TEXT'
set -eu
mkdir /counter && cd /counter
cp /usr/share/doc/nacre/examples/counter.cpp .
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(counter LANGUAGES CXX)
find_package(nacre 0.2 REQUIRED)
add_executable(counter counter.cpp)
target_link_libraries(counter PRIVATE nacre::nacre)
CMAKE
cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build
c++ -std=c++20 -O2 counter.cpp -o by_pkg_config $(pkg-config --cflags --libs nacre)
# says COMMAND...: the last line is what the counter has counted.
says() {
  "$@" >said 2>&1 || { cat said; exit 1; }
  [ "$(tail -n 1 said)" = 500500 ] || { cat said; exit 1; }
  echo "$*: 500500"
}
for program in build/counter ./by_pkg_config; do
  says $program
  says nacre run -n 2 $program
  if dpkg-query -W nacre-ucx >/dev/null 2>&1; then says nacre run -n 2 --transport ucx $program; fi
done
for file in $(dpkg-query -L nacre nacre-ucx nacre-openmpi nacre-mpich nacre-tools 2>/dev/null | grep -E '/bin/|\.so$'); do
  if ldd "$file" | grep 'not found'; then echo "$file lacks this"; exit 1; fi
done
uts --tree T1 | grep nodes
TEXT
step "the counter program, by CMake and by pkg-config"
inside sh /debs/counter.sh >"$scratch/counter" 2>&1 || { cat "$scratch/counter"; exit 1; }
grep -v '^--' "$scratch/counter"

if [ "$brief" != brief ]; then
  step "all examples"
  quietly inside sh -c 'cmake -G Ninja -S /usr/share/doc/nacre/examples -B /examples && cmake --build /examples'
  inside ctest --test-dir /examples >"$scratch/examples" || { cat "$scratch/examples"; exit 1; }
  grep -E 'tests (passed|failed)' "$scratch/examples"
fi

step "apt-get purge"
quietly inside sh -c "apt-get purge -q -y 'nacre*' libnacre-dev"
left=$(find "$root/usr" -name '*nacre*' | head)
[ -z "$left" ] || { echo "deb.sh: purged packages leave behind: $left" >&2; exit 1; }
step "done"
