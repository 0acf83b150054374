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

void spend(const program& program, nacre::context& ctx, double seconds) {
  if (program.work == work::declared) {
    ctx.charge(seconds);
  } else {
    compute(static_cast<std::uint64_t>(seconds * program.rounds_a_second));
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
  task(const program& program, const seed_of_task& seed_of_task) : program_(program), own_seed_(seed_of_task) {}

  void run(nacre::context& ctx) {
    spend(program_, ctx, cost_of(program_, own_seed_.number));
    std::array<seed_of_task, children_max> children;
    const std::uint32_t count = split(program_, own_seed_, children);
    for (const seed_of_task& each : std::span(children).first(count)) {
      ctx.send<&task::run>(ctx.create<task>(program_, each));
    }
    account_of(ctx.rank()).add(ctx.now());
    ctx.destroy(ctx.self<task>());
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(program_, own_seed_);
  }

 private:
  program program_;
  seed_of_task own_seed_;
};

void begin(nacre::runtime& rt, const program& program) {
  if (program.shape == shape::tree) {
    rt.send<&task::run>(rt.create<task>(program, seed_of_task{.number = 1, .tasks = program.tasks}));
    return;
  }
  for (std::uint64_t n = 1; n <= program.tasks; ++n) {
    rt.send<&task::run>(rt.create<task>(program, seed_of_task{.number = n, .tasks = 1}));
  }
}

/// Adds what is below a task; returns the longest path from it on.
double explore(const program& program, const seed_of_task& source, double& total) {
  const double own_value = cost_of(program, source.number);
  total += own_value;
  std::array<seed_of_task, children_max> children;
  const std::uint32_t count = split(program, source, children);
  double longest = 0;
  for (const seed_of_task& each : std::span(children).first(count)) {
    longest = std::max(longest, explore(program, each, total));
  }
  return own_value + longest;
}

}  // namespace

bounds bounds_of(const program& program) {
  bounds match;
  if (program.shape == shape::tree) {
    match.longest_path = explore(program, {.number = 1, .tasks = program.tasks}, match.work);
    return match;
  }
  for (std::uint64_t n = 1; n <= program.tasks; ++n) {
    const double own_value = cost_of(program, n);
    match.work += own_value;
    match.longest_path = std::max(match.longest_path, own_value);
  }
  return match;
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

measurement run(nacre::runtime& rt, const program& program) {
  account& account = account_of(rt.rank());
  account.clear();
  rt.barrier();
  const nacre::rank_counters previous = rt.counters();
  const double start = rt.now();
  measurement match;
  if (rt.rank().value() == 0) {
    begin(rt, program);
    match.created = rt.now() - start;
  }
  rt.wait_quiescence();
  match.seconds = rt.now() - start;
  const nacre::rank_counters last = rt.counters();
  const auto most = [](double a, double b) { return std::max(a, b); };
  match.last_end = rt.all_reduce(account.latest(), most) - rt.broadcast(start, nacre::rank_id{0});
  match.seconds = rt.broadcast(match.seconds, nacre::rank_id{0});
  match.created = rt.broadcast(match.created, nacre::rank_id{0});
  match.tasks = rt.all_reduce(account.tasks(), std::plus<>{});
  match.moves = rt.all_reduce(last.migrations_out - previous.migrations_out, std::plus<>{});
  match.messages = rt.all_reduce(last.messages_sent - previous.messages_sent, std::plus<>{});
  return match;
}

}  // namespace task_trees
