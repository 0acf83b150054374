#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_deps.sh [demo|test]: installs the Debian or Ubuntu packages that the build needs and this machine lacks: for the
# library, its command and the programs of the README (demo), or for all that is built and tested (the default). Does nothing
# when all are there.
set -eu
purpose=${1:-test}
case $purpose in
  demo | test) ;;
  *) echo "usage: tools/install_deps.sh [demo|test]" >&2; exit 2 ;;
esac

packages="ninja-build g++ cmake pkg-config python3
  libgtest-dev libbenchmark-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libboost-context-dev libexpected-dev libsodium-dev libhwloc-dev libzstd-dev libxxhash-dev"
# Come along with others that are missing, where the release has them: without ccache a second build from nothing takes as
# long as the first.
optional="ccache"
if [ "$purpose" = test ]; then
  # Transports of others, what mesh2d and nbody read and draw, what benchmarks compare with, the server of an example, Python's
  # headers, the reference.
  packages="$packages libpmix-dev libopenmpi-dev openmpi-bin libmpich-dev mpich libucx-dev libmimalloc-dev libtbb-dev
    libmetis-dev libpng-dev libnetcdf-dev libhdf5-dev libmuparser-dev gmt-gshhg-low libcpp-httplib-dev python3-dev
    doxygen"
  # Without lld programs link slower, without clang the sanitizer builds and their tests take twice as long, without
  # libipsec-mb-dev (second best: libssl-dev) datagrams are authenticated more slowly, without libcgal-dev no test compares
  # mesh2d with CGAL, without tetgen none compares mesh3d with TetGen, without Chromium none looks at the pages of nacre
  # report, without clang-format-14 none looks at the format, without the others nacre report writes no OTF2.
  optional="$optional lld clang-16 libclang-rt-16-dev llvm-16 libipsec-mb-dev libssl-dev libopen-trace-format2-dev otf2-tools
    libcgal-dev tetgen chromium clang-format-14"
fi

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
if [ "$purpose" = test ] && [ "$forbidden" = 101 ] && ! [ -d /run/systemd/system ]; then packages="$packages $servers"; fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null | sed -n 's/^installed //p')
missing=
for package in $packages; do
  printf '%s\n' "$installed" | grep -qxF -e "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root() { env DEBIAN_FRONTEND=noninteractive "$@"; }
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  # sudo forgets which proxy the network wants.
  as_root() {
    sudo -n env ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} DEBIAN_FRONTEND=noninteractive "$@"
  }
else
  echo "Packages are missing and this user may not install them. Run this, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi

echo "Installing:$missing"
as_root apt-get update -q || echo "apt-get update has failed: what it knew before is tried" >&2
found=
for package in $optional; do
  if apt-cache show "$package" >/dev/null 2>&1; then found="$found $package"; fi
done
if [ -z "$found" ] || ! as_root apt-get install -q -y --no-install-recommends $missing $found; then
  as_root apt-get install -q -y --no-install-recommends $missing
fi
