#!/bin/sh
#SBATCH --job-name=nacre
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=nacre-%j.out
# SPDX-License-Identifier: Apache-2.0
# slurm_restart.sh PROGRAM [ARGUMENT...], for sbatch: goes on from the newest image, if there is one, and puts the job
# back into the queue while it is not done. Needs `nacre` in PATH.
set -u

# Options are in the environment, since behind a -- of the program none would be Nacre's. The command line outranks them.
images=images-$SLURM_JOB_ID
export NACRE_WORKERS="${SLURM_CPUS_PER_TASK:-1}" NACRE_CHECKPOINT_FOLDER="$images" NACRE_CHECKPOINT_EVERY=5min
nacre run -n "$SLURM_NTASKS" --restore "$images" "$@" &
job=$!

# 120 s before the time is over, or when the job is preempted, this shell gets SIGTERM. It runs a trap only while no
# child runs in the foreground, hence the wait, which the trap ends.
trap 'kill -TERM $job' TERM
code=0
wait $job || code=$?
while kill -0 $job 2>/dev/null; do
  code=0
  wait $job || code=$?
done

# 75: the job has ended behind an image, and can go on from it. Slurm ends this script then; a script that ends by itself
# meanwhile could end the job for good.
if [ $code = 75 ]; then
  trap - TERM
  scontrol requeue "$SLURM_JOB_ID" && sleep 60
fi
exit $code
