#!/bin/sh
#SBATCH --job-name=nacre
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
#SBATCH --signal=TERM@60
#SBATCH --output=nacre-%j.out
# SPDX-License-Identifier: Apache-2.0
# slurm_job.sh PROGRAM [ARGUMENT...], for sbatch: a rank for each task, a worker for each of its processors.
set -eu

# srun does not take the processors of a task from the lines above (since Slurm 22.05).
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-1}"
# In the environment, since behind a -- of the program no option would be Nacre's. The command line outranks it.
export NACRE_WORKERS="$SRUN_CPUS_PER_TASK"

# A task that fails ends the step at once, and with it the job; 60 s before its time is over the tasks get SIGTERM.
exec srun --mpi=pmix --kill-on-bad-exit=1 "$@"
