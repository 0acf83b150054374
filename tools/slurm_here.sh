#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slurm_here.sh COMMAND...: runs COMMAND beside a Slurm of this machine alone, which begins and ends with it.
#
# munged, slurmctld and slurmd run in the foreground of a scratch folder, with their own configuration, key and ports, on
# the loopback interface; SLURM_CONF points to it, so that a Slurm that this machine belongs to is not touched. All
# processes are ended by their numbers. The exit code is the command's; 77 when Slurm cannot run here, with a line that
# says what is missing.
set -eu

cannot() {
  echo "slurm_here.sh: $1" >&2
  exit 77
}

PATH=$PATH:/usr/sbin:/sbin
[ $# -gt 0 ] || { echo "usage: slurm_here.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
[ "$(id -u)" = 0 ] || cannot "slurmd needs root to start tasks: run it as root"
for program in munged slurmctld slurmd srun python3; do
  command -v $program >/dev/null ||
    cannot "there is no $program: apt-get install --no-install-recommends munge slurmctld slurmd slurm-client python3"
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/slurm_here.XXXXXX")
chmod 755 "$scratch"
daemons=
up=
has_ended() { case $(cut -d " " -f 3 "/proc/$1/stat" 2>/dev/null) in "" | Z) return 0 ;; *) return 1 ;; esac; }
nobody_is_left() { for pid in $daemons; do has_ended "$pid" || return 1; done; }
# wait_for SECONDS COMMAND...: until it is true; false when the time is over.
wait_for() {
  tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.1
  done
}
node_is_idle() { [ "$(sinfo -h -o %T)" = idle ]; }
no_step_is_left() { node_is_idle && ! ls "$scratch/spool/${host}_"[0-9]* >/dev/null 2>&1; }  # a slurmstepd has a socket there
finish() {
  trap - EXIT INT TERM HUP
  if [ -n "$up" ]; then
    scancel --signal=KILL --user=root 2>/dev/null || true
    wait_for 10 no_step_is_left || echo "slurm_here.sh: a job step lingers" >&2
  fi
  for pid in $daemons; do kill "$pid" 2>/dev/null || true; done
  wait_for 5 nobody_is_left || for pid in $daemons; do kill -9 "$pid" 2>/dev/null || true; done
  for pid in $daemons; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

free_ports=$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))')
host=$(hostname -s)
mkdir "$scratch/state" "$scratch/spool"
mkdir -m 1777 "$scratch/tmp"  # of steps by PMIx: named by their numbers, which another Slurm beside this one has, too
cat >"$scratch/slurm.conf" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${free_ports% *}
SlurmdPort=${free_ports#* }
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/state
TmpFS=$scratch/tmp
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$scratch/slurm.conf"

# start NAME PROGRAM ARGUMENT...: in the background of this script, and in the foreground of itself.
start() {
  name=$1
  shift
  "$@" >"$scratch/$name.out" 2>&1 &
  daemons="$! $daemons"
}
# expect WHAT NAME COMMAND...: that it becomes true within 20 s.
expect() {
  what=$1 name=$2
  shift 2
  wait_for 20 "$@" && return
  tail -n 5 "$scratch/$name.out" >&2
  cannot "$what"
}

( umask 077; head -c 1024 /dev/urandom >"$scratch/munge.key" )
start munged munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
  --pid-file="$scratch/munge.pid" --log-file="$scratch/munge.log" --seed-file="$scratch/munge.seed"
expect "munged does not listen" munged test -S "$scratch/munge.socket"
start slurmctld slurmctld -D -i -f "$SLURM_CONF"
expect "slurmctld does not answer" slurmctld scontrol ping
start slurmd slurmd -D -f "$SLURM_CONF"
expect "slurmd does not come up" slurmd node_is_idle
up=yes

code=0
"$@" || code=$?
exit "$code"
