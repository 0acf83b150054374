#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hosts_here.sh COMMAND...: runs COMMAND beside two hosts, a and b, that are made of namespaces and end with it.
#
# Each has its own network, processes, mounts, name and shared memory of System V; a cable joins their networks, in which
# a is 198.51.100.1 and b 198.51.100.2. COMMAND runs in a's network. It finds in HOSTS_SHELL the remote shell by which
# `nacre run --ssh` reaches them. Nothing of this machine's own network is touched. The exit code is the command's; 77
# when there can be no such hosts here, with a line that says what is missing.
set -eu

cannot() {
  echo "hosts_here.sh: $1" >&2
  exit 77
}

PATH=$PATH:/usr/sbin:/sbin
[ $# -gt 0 ] || { echo "usage: hosts_here.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
[ "$(id -u)" = 0 ] || cannot "namespaces of networks need root: run it as root"
for program in unshare nsenter ip mount; do
  command -v $program >/dev/null || cannot "there is no $program: apt-get install util-linux mount iproute2"
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/hosts_here.XXXXXX")
chmod 755 "$scratch"
hosts=
finish() {
  trap - EXIT INT TERM HUP
  for pid in $hosts; do kill -9 "$pid" 2>/dev/null || true; done  # the first process of a host, with which all end
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# begin NAME: its first process sleeps; its number is in first_of_NAME.
begin() {
  # The kernel shows the devices of a network in its own /sys.
  unshare --net --ipc --pid --mount --uts --fork --kill-child --mount-proc sh -c '
    mount -t sysfs sysfs /sys && hostname "$0" && touch "$1/$0.up" && exec sleep infinity' "$1" "$scratch" \
    2>"$scratch/$1.out" &
  keeper=$!
  tries=100
  until [ -e "$scratch/$1.up" ]; do
    tries=$((tries - 1))
    if [ $tries = 0 ] || ! kill -0 $keeper 2>/dev/null; then
      cannot "host $1 does not begin: $(cat "$scratch/$1.out")"
    fi
    sleep 0.05
  done
  first=$(cat /proc/$keeper/task/$keeper/children)
  hosts="$hosts $first"
  eval "first_of_$1=$((first))"
}
# The kernel takes up to a second to say that a cable carries something.
cable_is_up() { nsenter -t "$1" -n ip -o link show cable | grep -q "state UP"; }

begin a
begin b
ip link add name cable netns "$first_of_a" type veth peer name cable netns "$first_of_b" 2>"$scratch/ip.out" ||
  cannot "their networks cannot be joined: $(cat "$scratch/ip.out")"
number=1
for first in $hosts; do
  nsenter -t "$first" -n ip address add 198.51.100.$number/24 dev cable
  nsenter -t "$first" -n ip link set lo up
  nsenter -t "$first" -n ip link set cable up
  number=$((number + 1))
done
for first in $hosts; do
  tries=100
  until cable_is_up "$first"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || cannot "their cable does not come up"
    sleep 0.05
  done
done

cat >"$scratch/shell" <<END
#!/bin/sh
case \$1 in
  a) first=$first_of_a ;;
  b) first=$first_of_b ;;
  *) echo "there is no host \$1" >&2; exit 255 ;;
esac
exec nsenter -t \$first -n -i -p -m -u sh -c "\$2"
END
chmod 755 "$scratch/shell"
export HOSTS_SHELL="$scratch/shell"

code=0
nsenter -t "$first_of_a" -n "$@" || code=$?
exit "$code"
