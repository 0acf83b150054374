#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fresh_root.sh [OPTION...] SUITE [COMMAND]: what a newcomer sees on a Debian or Ubuntu SUITE (bookworm, trixie, testing, ...).
#
# Makes a root of the suite's smallest packages with debootstrap, from the mirror that this machine's apt uses, puts a clone of
# this repository's last commit into it, and runs `make demo` and `make test` there, or COMMAND. Prints the
# time of each step, keeps what they print in build/fresh_root/SUITE.log, and removes the root. The first step that fails ends
# the run with its exit code. Processes of the root end with it, servers do not start by themselves, /sys is as in most
# containers, and the network is that of this machine.
#
#   --root FOLDER     makes the root there, or uses the one that is there, and keeps it
#   --ccache FOLDER   a compiler cache for the builds in the root; without it everything is compiled, as at a newcomer's
#   --without-sys     leaves out /sys, as some containers do
set -eu

refuse() {
  echo "fresh_root.sh: $1" >&2
  exit 2
}

root= cache= sys=yes
while [ $# -gt 0 ]; do
  case $1 in
    --root) root=${2:?--root needs a folder}; shift 2 ;;
    --ccache) cache=${2:?--ccache needs a folder}; shift 2 ;;
    --without-sys) sys=no; shift ;;
    -*) refuse "there is no option $1: the head of this file lists them" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || refuse "which suite? Write one of Debian or Ubuntu, as in: fresh_root.sh trixie"
suite=$1
shift
[ "$(id -u)" = 0 ] || refuse "only root makes a root: run it with sudo"
for program in debootstrap apt-get git unshare; do
  command -v $program >/dev/null || refuse "there is no $program: apt-get install debootstrap git util-linux"
done

repository=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$repository/build/fresh_root"
log=$repository/build/fresh_root/$suite.log
: >"$log"
keep=yes
if [ -z "$root" ]; then
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/nacre_root.XXXXXX")
  keep=no
fi
finish() {
  # What was mounted lives in the namespaces of the steps, which have ended.
  [ $keep = yes ] || rm -rf --one-file-system "$root"
}
trap finish EXIT
trap 'exit 130' INT TERM

# step NAME COMMAND...: prints and keeps what the command prints, and its time.
step() {
  name=$1
  shift
  begin=$(date +%s)
  { code=0; "$@" 2>&1 || code=$?; echo "$code" >"$log.code"; } | tee -a "$log"
  code=$(cat "$log.code")
  rm -f "$log.code"
  echo "== $suite: $name: $(($(date +%s) - begin)) s, exit code $code" | tee -a "$log"
  [ "$code" = 0 ] || exit "$code"
}

make_root() {
  if [ -x "$root/usr/bin/apt-get" ] && ! [ -d "$root/debootstrap" ]; then return 0; fi  # that folder is there until debootstrap ends
  # The repositories of distributions alone have these labels.
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^\(Debian\|Ubuntu\) //p' | head -n 1)
  if [ -z "$mirror" ]; then
    echo "fresh_root.sh: apt knows no repository of Debian or Ubuntu here: apt-get update" >&2
    return 2
  fi
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" "$mirror" || return
  apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$root/etc/apt/apt.conf.d/00proxy" || true
  echo 'Acquire::Check-Valid-Until "false";  // a mirror may be some weeks old' >"$root/etc/apt/apt.conf.d/00mirror"
  for file in /etc/hosts /etc/resolv.conf; do cp -L "$file" "$root$file" || return; done
  printf '#!/bin/sh\nexit 101  # as in containers: services do not start\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

clone() {
  rm -rf "$root/srv/nacre"
  git -C "$repository" diff --quiet HEAD || echo "fresh_root.sh: changes that are not committed stay outside"
  git clone --quiet --no-hardlinks "$repository" "$root/srv/nacre"
}

# inside COMMAND: run by the root's shell in the clone, in namespaces of mounts and of processes, so that nothing outlives it.
inside() {
  root=$root sys=$sys cache=$cache unshare --mount --pid --fork --kill-child sh -euc '
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mkdir -p "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    [ $sys = no ] || mount -t sysfs -o ro sysfs "$root/sys"
    if [ -n "$cache" ]; then
      mkdir -p "$root/srv/ccache"
      mount --bind "$cache" "$root/srv/ccache"
    fi
    chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_DIR=/srv/ccache \
      sh -c "cd /srv/nacre && $1"' sh "$1"
}

step "debootstrap" make_root
step "git clone" clone
if [ $# -gt 0 ]; then
  step "$*" inside "$*"
else
  step "make demo" inside "make demo"
  step "make test" inside "make test"
fi
