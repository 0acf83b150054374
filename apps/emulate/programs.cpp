// SPDX-License-Identifier: Apache-2.0
// The table of programs.
#include "programs.hpp"

namespace emulate {

const std::vector<program>& programs() {
  static const std::vector<program> table{
      {"line", "broadcast along lines from a corner", run_line},
      {"octree", "broadcast from the middle to eight boxes, and on within each", run_octree},
      {"reduce", "maximum of a number of each node, the way of line in reverse", run_reduce},
      {"ring", "every thread passes --rounds messages to the same thread of the next node", run_ring},
      {"phold", "a constant number of events at random nodes and times", run_phold},
      {"jacobi", "relaxation in three dimensions, a cube of cells a node", run_jacobi},
      {"md", "molecular dynamics: electrostatics with a cut-off, a cell of atoms a node", run_md},
  };
  return table;
}

}  // namespace emulate
