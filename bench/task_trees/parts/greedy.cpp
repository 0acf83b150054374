// SPDX-License-Identifier: Apache-2.0
// Greedy list scheduling without any costs (Graham, 1969): what is left of a balancer's loss when moving is free.
#include <array>
#include <cstdint>
#include <deque>
#include <queue>
#include <span>
#include <vector>

#include "task_trees/parts/seed_of_task.hpp"

namespace task_trees {
namespace {

struct ending {
  double time = 0;
  seed_of_task task;
  bool operator<(const ending& other) const { return time > other.time; }  // the earliest on top of a queue
};

}  // namespace

double greedy_seconds(const program& program, std::uint32_t ranks) {
  std::deque<seed_of_task> waiting;
  if (program.shape == shape::tree) {
    waiting.push_back({.number = 1, .tasks = program.tasks});
  } else {
    for (std::uint64_t n = 1; n <= program.tasks; ++n) waiting.push_back({.number = n, .tasks = 1});
  }
  std::priority_queue<ending> running;
  double now = 0;
  for (std::uint32_t free = ranks;;) {
    for (; free != 0 && !waiting.empty(); --free) {
      running.push({now + cost_of(program, waiting.front().number), waiting.front()});
      waiting.pop_front();
    }
    if (running.empty()) return now;
    const ending first = running.top();
    running.pop();
    ++free;
    now = first.time;
    std::array<seed_of_task, children_max> children;
    const std::uint32_t count = split(program, first.task, children);
    for (const seed_of_task& each : std::span(children).first(count)) waiting.push_back(each);
  }
}

}  // namespace task_trees
