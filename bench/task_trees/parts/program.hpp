// SPDX-License-Identifier: Apache-2.0
// The measured programs: a tree of small objects that create objects, and a bag of objects made on one rank.
#pragma once

#include <cstdint>

#include <nacre/nacre.hpp>

namespace task_trees {

enum class shape {
  tree,  ///< one task on rank 0 at first; each task creates its children, of random number and size
  bag    ///< all tasks are created by main of rank 0
};

enum class law {
  equal,        ///< all tasks cost the mean
  exponential,  ///< costs are exponential
  heavy         ///< costs follow a Pareto law of exponent 1.5, cut at 100 times the mean
};

/// How a task spends its time.
enum class work {
  declared,  ///< by context::charge: virtual time
  computed   ///< by a loop on this processor
};

/// What is run. A pure function of these values: each task's cost and children follow from its own number.
struct program {
  task_trees::shape shape = shape::tree;
  task_trees::law law = law::equal;
  std::uint64_t tasks = 0;
  double mean_seconds = 0;
  std::uint64_t seed = 1;
  task_trees::work work = work::declared;
  double rounds_a_second = 0;  ///< of the loop, for work::computed

  template <class Archive>
  void serialize(Archive& ar) {
    ar(shape, law, tasks, mean_seconds, seed, work, rounds_a_second);
  }
};

/// What no schedule can go below.
struct bounds {
  double work = 0;          ///< seconds of all tasks together
  double longest_path = 0;  ///< seconds of the tasks from the root to the most expensive leaf; of the longest in a bag
};
[[nodiscard]] bounds bounds_of(const program& program);

/// The time of a machine on which nothing costs anything but the tasks, and whose ranks take the task that waits
/// longest as soon as they are free. It loses only by not knowing what tasks will cost and which children they will
/// have.
[[nodiscard]] double greedy_seconds(const program& program, std::uint32_t ranks);

/// Rounds of the loop in a second on an undisturbed processor: the fastest of some trials.
[[nodiscard]] double calibrate();

/// Ranks that one process can hold.
inline constexpr std::uint32_t ranks_max = 4096;

/// What one run took, on every rank the same.
struct measurement {
  double seconds = 0;          ///< from before the first task is created until all ranks know that all have ended
  double last_end = 0;         ///< the same, until the end of the last task
  double created = 0;          ///< until main of rank 0 has created its tasks
  std::uint64_t tasks = 0;     ///< that have run
  std::uint64_t moves = 0;     ///< of objects between ranks
  std::uint64_t messages = 0;  ///< between ranks, all kinds
};

/// Collective.
[[nodiscard]] measurement run(nacre::runtime& rt, const program& program);

}  // namespace task_trees
