// SPDX-License-Identifier: Apache-2.0
// Which programs are run on which machines under which balancers, and what is made of the figures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "task_trees/parts/program.hpp"

namespace task_trees {

inline constexpr const char* meaning_of_ideal =
    "Efficiency is ideal time / time. The time is that from before the first task is created until all ranks know that "
    "all have ended. The ideal time is the longest of: the work of all tasks / ranks; the longest path of the tree, or "
    "the longest task of a bag; and for a bag the time in which main of rank 0 creates all objects, and that in which "
    "its worker runs some of them and sends the others away, for which it takes sim.cost.move_out, sim.cost.send and "
    "sim.send_overhead each. With many ranks that is all that a bag's ideal is. "
    "Greedy is how near a machine would come on which nothing costs anything but the tasks, and whose ranks take the "
    "task "
    "that waits longest as soon as they are free: long tasks that nobody knows of beforehand begin late on any "
    "machine.";

struct plan {
  std::vector<std::string> shapes{"tree", "bag"};
  std::vector<std::string> laws{"equal", "exponential", "heavy"};
  std::vector<std::uint32_t> grains{3, 10, 30};
  std::vector<std::uint32_t> ranks{16, 64, 256, 1024};
  std::vector<std::string> balancers{"default"};
  std::vector<std::string> settings{};
  std::uint64_t tasks_a_rank = 750;
  std::uint64_t seed = 1;
  double least = 0;
  int runs = 5;                                          // real ones of each
  std::vector<std::string> transports{"inproc", "shm"};  // real ones
  std::vector<std::uint32_t> micros{10, 50};             // real costs of a task
  std::uint64_t real_tasks = 20'000;
};

/// One program on one machine.
struct setting {
  task_trees::shape shape = shape::tree;
  task_trees::law law = law::equal;
  std::uint32_t grain = 1;  ///< in latencies
  std::uint32_t ranks = 1;
  std::string balancer{};
};

struct row {
  setting conditions;
  std::uint64_t tasks = 0;
  double ideal = 0;
  double work_a_rank = 0;  ///< seconds: what the ideal would be if it cost nothing to make objects and send them away
  double greedy = 0;       ///< seconds: see greedy_seconds
  measurement took{};
  [[nodiscard]] double efficiency() const { return ideal / took.seconds; }
};
using rows = std::vector<row>;

[[nodiscard]] const char* name_of(shape shape);
[[nodiscard]] const char* name_of(law law);

/// Runs everything of the plan, and tells each row when it is there. Throws std::runtime_error when a run is wrong.
[[nodiscard]] rows simulate(const plan& plan, const std::function<void(const row&)>& tell);

[[nodiscard]] nlohmann::ordered_json json_of(const rows& all);
[[nodiscard]] std::string svg_of(const plan& plan, const rows& all);
/// The same on two ranks of this host that compute: the runs of all balancers alternate.
struct real_row {
  std::string transport;
  task_trees::shape shape = shape::tree;
  task_trees::law law = law::equal;
  std::uint32_t micros = 0;
  std::string balancer;
  std::vector<double> seconds;  // of each run, ascending
  double ideal = 0;
  std::uint64_t moves = 0;  // of the median run
  double over_best = 0;     // median / least median of all balancers
  [[nodiscard]] double median() const { return seconds[seconds.size() / 2]; }
};
void measure_real(const plan& plan, const std::function<void(const real_row&)>& tell);

/// What a process does that measure_real starts: runs `program` and prints a line that measure_real reads.
int serve(const nacre::config& configuration, const program& program);

[[nodiscard]] shape shape_of(const std::string& word);
[[nodiscard]] law law_of(const std::string& word);

/// Of the first balancer of the plan.
[[nodiscard]] double least_efficiency(const plan& plan, const rows& all);

}  // namespace task_trees
