#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that the build needs and this machine lacks; does nothing when all are there.
set -eu

packages="ninja-build g++ cmake pkg-config python3
  libgtest-dev libbenchmark-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libboost-context-dev libexpected-dev libsodium-dev libhwloc-dev libzstd-dev libpmix-dev libmimalloc-dev libtbb-dev
  libopenmpi-dev openmpi-bin libmpich-dev mpich libucx-dev libmetis-dev libpng-dev libnetcdf-dev libmuparser-dev
  gmt-gshhg-low doxygen"
# Come along with others that are missing, where the release has them: without ccache a second build from nothing takes as
# long as the first, without lld programs link slower, without clang the sanitizer builds and their tests take twice as long,
# without libipsec-mb-dev (second best: libssl-dev) datagrams are authenticated more slowly, without libcgal-dev no test
# compares mesh2d with CGAL, without tetgen none compares mesh3d with TetGen, without the others nacre report writes no OTF2.
optional="ccache lld clang-16 libclang-rt-16-dev llvm-16 libipsec-mb-dev libssl-dev libopen-trace-format2-dev otf2-tools
  libcgal-dev tetgen"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is neither Debian nor Ubuntu, so nothing was installed. The build needs what these packages hold:"
  echo $packages
  exit 0
fi

# Servers that tests start for themselves. Their packages would start them for good, unless the machine's owner forbids
# that, as containers do (policy-rc.d says 101); elsewhere the tests are skipped and say what to install.
servers="openssh-server openssh-client munge slurmctld slurmd slurm-client"
forbidden=0
if [ -x /usr/sbin/policy-rc.d ]; then
  forbidden=$(/usr/sbin/policy-rc.d ssh start >/dev/null 2>&1 && echo 0 || echo $?)
fi
if [ "$forbidden" = 101 ] && ! [ -d /run/systemd/system ]; then packages="$packages $servers"; fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null | sed -n 's/^installed //p')
missing=
for package in $packages; do
  printf '%s\n' "$installed" | grep -qxF -e "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n env"
else
  echo "Packages are missing and this user may not install them. Run this, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi

echo "Installing:$missing"
$as_root DEBIAN_FRONTEND=noninteractive apt-get update -q
for package in $optional; do
  if apt-cache show "$package" >/dev/null 2>&1; then missing="$missing $package"; fi
done
$as_root DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
