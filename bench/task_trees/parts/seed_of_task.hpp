// SPDX-License-Identifier: Apache-2.0
// What a task costs, and which children it has: pure functions of its number.
#pragma once

#include <array>
#include <cstdint>

#include "task_trees/parts/program.hpp"

namespace task_trees {

inline constexpr std::uint32_t children_max = 8;

/// What a task is made of: its number, from which all chance follows, and how many tasks its subtree has.
struct seed_of_task {
  std::uint64_t number = 0;
  std::uint64_t tasks = 1;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, tasks);
  }
};

/// In seconds.
[[nodiscard]] double cost_of(const program& program, std::uint64_t number);

/// Splits what is below a task among 1 to children_max children at random points: subtrees are of very different size.
/// Returns how many there are.
std::uint32_t split(const program& program, const seed_of_task& subject,
                    std::array<seed_of_task, children_max>& seed_of_tasks);

}  // namespace task_trees
