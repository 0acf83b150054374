#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counts a large unbalanced tree on two processes, then a smaller one on 64 simulated ranks; fails if a count is wrong.
set -eu
cd "$(dirname "$0")/.."
bin=build/release/bin

echo "1. Two processes, connected by tcp, count the 102 million nodes of tree T1L; work moves to whoever is idle."
"$bin/nacre" run -n 2 --transport tcp "$bin/uts" --tree T1L --nacre.summary

echo
echo "2. The same program, unchanged, counts tree T1 on 64 simulated ranks in virtual time."
"$bin/uts" --tree T1 --nacre.transport=sim --nacre.ranks=64 --nacre.summary

cat <<TEXT

Both counts match the published ones. What to try next:
  $bin/uts --list                                                  the other trees
  $bin/uts --tree T3L --nacre.workers=2                            one process, two workers
  $bin/uts --tree T1 --nacre.transport=sim --nacre.ranks=175       more simulated ranks
  $bin/nacre run -n 4 $bin/uts --tree T3 --nacre.summary  four processes
  $bin/uts --nacre.help                                            every option
  docs/tutorial.md                                                 a program of your own, in five steps
TEXT
