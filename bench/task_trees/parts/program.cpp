// SPDX-License-Identifier: Apache-2.0
// Tasks as mobile objects.
#include "task_trees/parts/program.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "task_trees/parts/seed_of_task.hpp"

namespace task_trees {
namespace {

/// One step of a linear congruential generator depends on the one before, so no compiler shortens the loop.
void compute(std::uint64_t rounds) {
  std::uint64_t state = rounds;
  for (std::uint64_t round = 0; round < rounds; ++round) state = state * 6364136223846793005u + 1442695040888963407u;
  static_cast<void>(std::atomic_ref(state).load(std::memory_order_relaxed));  // nobody else: keeps the loop
}

void spend(const program& what, nacre::context& ctx, double seconds) {
  if (what.work == work::declared) {
    ctx.charge(seconds);
  } else {
    compute(static_cast<std::uint64_t>(seconds * what.rounds_a_second));
  }
}

/// What the tasks of one rank have done.
class alignas(64) account {
 public:
  void clear() {
    tasks_.store(0, std::memory_order_relaxed);  // before any task exists
    latest_.store(0, std::memory_order_relaxed);
  }
  void add(double end) {
    tasks_.fetch_add(1, std::memory_order_relaxed);  // read once the system is quiet
    double latest = latest_.load(std::memory_order_relaxed);
    while (latest < end && !latest_.compare_exchange_weak(latest, end, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_.load(std::memory_order_relaxed); }
  [[nodiscard]] double latest() const { return latest_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> tasks_{0};
  std::atomic<double> latest_{0};
};

/// Of a rank of this process. A task notes its end without a message, which would be part of what is measured.
account& account_of(nacre::rank_id rank) {
  static std::array<account, ranks_max> all;
  return all.at(rank.value());
}

class task {
 public:
  task() = default;
  task(const program& what, const seed_of_task& own) : what_(what), own_(own) {}

  void run(nacre::context& ctx) {
    spend(what_, ctx, cost_of(what_, own_.number));
    std::array<seed_of_task, children_max> children;
    const std::uint32_t count = split(what_, own_, children);
    for (const seed_of_task& each : std::span(children).first(count)) {
      ctx.send<&task::run>(ctx.create<task>(what_, each));
    }
    account_of(ctx.rank()).add(ctx.now());
    ctx.destroy(ctx.self<task>());
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(what_, own_);
  }

 private:
  program what_;
  seed_of_task own_;
};

void begin(nacre::runtime& rt, const program& what) {
  if (what.shape == shape::tree) {
    rt.send<&task::run>(rt.create<task>(what, seed_of_task{.number = 1, .tasks = what.tasks}));
    return;
  }
  for (std::uint64_t n = 1; n <= what.tasks; ++n) {
    rt.send<&task::run>(rt.create<task>(what, seed_of_task{.number = n, .tasks = 1}));
  }
}

/// Adds what is below a task; returns the longest path from it on.
double explore(const program& what, const seed_of_task& from, double& total) {
  const double own = cost_of(what, from.number);
  total += own;
  std::array<seed_of_task, children_max> children;
  const std::uint32_t count = split(what, from, children);
  double longest = 0;
  for (const seed_of_task& each : std::span(children).first(count)) {
    longest = std::max(longest, explore(what, each, total));
  }
  return own + longest;
}

}  // namespace

bounds bounds_of(const program& what) {
  bounds found;
  if (what.shape == shape::tree) {
    found.longest_path = explore(what, {.number = 1, .tasks = what.tasks}, found.work);
    return found;
  }
  for (std::uint64_t n = 1; n <= what.tasks; ++n) {
    const double own = cost_of(what, n);
    found.work += own;
    found.longest_path = std::max(found.longest_path, own);
  }
  return found;
}

double calibrate() {
  constexpr std::uint64_t rounds = 2'000'000;
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 10; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    compute(rounds);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(rounds) / least;
}

measurement run(nacre::runtime& rt, const program& what) {
  account& own = account_of(rt.rank());
  own.clear();
  rt.barrier();
  const nacre::rank_counters before = rt.counters();
  const double start = rt.now();
  measurement found;
  if (rt.rank().value() == 0) {
    begin(rt, what);
    found.made = rt.now() - start;
  }
  rt.wait_quiescence();
  found.seconds = rt.now() - start;
  const nacre::rank_counters after = rt.counters();
  const auto most = [](double a, double b) { return std::max(a, b); };
  found.last_end = rt.all_reduce(own.latest(), most) - rt.broadcast(start, nacre::rank_id{0});
  found.seconds = rt.broadcast(found.seconds, nacre::rank_id{0});
  found.made = rt.broadcast(found.made, nacre::rank_id{0});
  found.tasks = rt.all_reduce(own.tasks(), std::plus<>{});
  found.moves = rt.all_reduce(after.migrations_out - before.migrations_out, std::plus<>{});
  found.messages = rt.all_reduce(after.messages_sent - before.messages_sent, std::plus<>{});
  return found;
}

}  // namespace task_trees
