#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counts a large unbalanced tree on two processes, then a smaller one on 64 simulated ranks; fails if a count is wrong.
set -eu
cd "$(dirname "$0")/.."
bin=build/release/bin

cat <<TEXT
An unbalanced tree is given by a formula: each node's number of children follows from its SHA-1 hash. Nobody knows
where the large subtrees are until they are there. All work begins on rank 0. A part of the search that hears that others
are out of work splits, and the balancer moves such parts to ranks that are idle.

1. Two processes, connected by tcp, count the tree T1L: 102,181,082 nodes.
   $bin/nacre run -n 2 --transport tcp $bin/uts --tree T1L --nacre.summary

TEXT
"$bin/nacre" run -n 2 --transport tcp "$bin/uts" --tree T1L --nacre.summary

cat <<TEXT

What the summary says: 'handler s' is time in the program's own code, 'runtime s' in Nacre, 'idle s' without work. The closer busy%
is to 100, the better the balance. 'moved out' and 'moved in' count the parts that went from one process to the other.

2. The same program, unchanged, counts the tree T1 on 64 simulated ranks: 4,130,071 nodes. Everything runs in this one process,
   seconds are those of the simulated machine, and every run with the same seed is the same.
   $bin/uts --tree T1 --nacre.transport=sim --nacre.ranks=64 --nacre.summary

TEXT
"$bin/uts" --tree T1 --nacre.transport=sim --nacre.ranks=64 --nacre.summary

cat <<TEXT

Both counts match the published ones. What to try next:
  $bin/nacre run -n 2 --transport tcp $bin/uts --tree T1L --nacre.balancer=none --nacre.summary
                                                    the same without a balancer: one process has nothing to do
  $bin/uts --tree T3 --nacre.transport=sim --nacre.ranks=175 --nacre.sim.latency=20us --nacre.summary
                                                    another tree, more ranks, a slower network
  $bin/uts --list                                   all trees, with their published counts
  $bin/uts --nacre.help                             all options of Nacre
  docs/tutorial.md                                  a program of your own, in six steps
TEXT
