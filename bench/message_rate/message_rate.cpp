// SPDX-License-Identifier: Apache-2.0
// How many small active messages to random ranks are sent, run and counted in a second?
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

namespace {

/// What one worker of this process has run, or one element. Workers have a cache line each: they do not wait for each
/// other.
struct seen {
  std::uint64_t messages = 0;
  std::uint64_t sum = 0;
};
struct alignas(64) seen_apart : seen {};
constexpr std::uint32_t workers_max = 4096;  // of all ranks of a process
std::array<seen_apart, workers_max> seen_by_worker;

void hit(nacre::context& ctx, std::uint64_t value) {
  seen& seen = seen_by_worker[ctx.rank().value() * ctx.workers() + ctx.worker().value()];
  seen.messages += 1;
  seen.sum += value;
}

/// An element of an array, with a count of its own.
struct counter {
  seen mine;
  void hit(std::uint64_t value) {
    mine.messages += 1;
    mine.sum += value;
  }
  std::uint64_t messages() const { return mine.messages; }
  std::uint64_t sum() const { return mine.sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(mine.messages, mine.sum);
  }
};

/// A small fast generator, so that drawing a target costs nothing beside sending.
struct mixer {
  std::uint64_t state;
  std::uint64_t next() noexcept {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    return z ^ (z >> 27);
  }
};

/// Sends the numbers from `first` to before `end` to random ranks.
template <class Sender>
void send_numbers(Sender& source, std::uint64_t first, std::uint64_t end, bool remote_only) {
  const std::uint32_t size = source.size(), own_index = source.rank().value();
  mixer random{first ^ (std::uint64_t{own_index} + 1) << 32};
  for (std::uint64_t i = first; i < end; ++i) {
    const std::uint64_t draw = random.next();
    std::uint32_t target = static_cast<std::uint32_t>(((draw >> 32) * size) >> 32);
    if (remote_only && target == own_index) target = target + 1 == size ? 0 : target + 1;
    source.template send<hit>(nacre::rank_id{target}, i);
  }
}

/// Sends a part of the numbers, and the rest by a message to itself, so that it is a handler as short as others.
void send_from_handler(nacre::context& ctx, std::uint64_t first, std::uint64_t end, bool remote_only) {
  constexpr std::uint64_t at_once = 1000;
  const std::uint64_t local_count = std::min(first + at_once, end);
  send_numbers(ctx, first, local_count, remote_only);
  if (local_count < end) ctx.send<send_from_handler>(ctx.rank(), local_count, end, remote_only);
}

struct plan {
  std::uint64_t messages = 10'000'000;
  std::uint64_t elements = 0;  // 0: to ranks
  bool remote_only = false;
  bool from_handlers = false;
};

/// What the workers of this rank have run.
seen run_here(const nacre::runtime& rt) {
  seen all;
  for (std::uint32_t each = 0; each < rt.workers(); ++each) {
    const seen& subject = seen_by_worker[rt.rank().value() * rt.workers() + each];
    all.messages += subject.messages;
    all.sum += subject.sum;
  }
  return all;
}

/// Prints the rate on rank 0, from what all ranks together have run; false there when a message is missing.
bool report(nacre::runtime& rt, const plan& plan, double seconds, const seen& ran) {
  if (rt.rank().value() != 0) return true;
  const std::uint64_t sent = rt.size() * plan.messages;
  const bool complete = ran.messages == sent && ran.sum == rt.size() * (plan.messages * (plan.messages - 1) / 2);
  fmt::print("{} messages, {} ranks, {:.3f} s: {:.2f} M messages/s, {}\n", sent, rt.size(), seconds,
             static_cast<double>(sent) / seconds * 1e-6, complete ? "all run and counted" : "SOME ARE MISSING");
  return complete;
}

/// Sends the numbers to random elements of an array, or to those on other ranks.
bool measure_elements(nacre::runtime& rt, const plan& plan) {
  const auto all = rt.create_array<counter>(nacre::extents{plan.elements});
  std::vector<nacre::mobile_ptr<counter>> targets;
  for (std::uint64_t each = 0; each < plan.elements; ++each) {
    if (!plan.remote_only || all.home_of({each}) != rt.rank()) targets.push_back(all[{each}]);
  }
  if (targets.empty()) throw nacre::usage_error("--remote needs more ranks, and an element on each");
  rt.barrier();
  const double begin = rt.now();
  mixer random{rt.rank().value() + 1u};
  for (std::uint64_t i = 0; i < plan.messages; ++i) {
    const auto index = static_cast<std::size_t>(((random.next() >> 32) * targets.size()) >> 32);
    rt.send<&counter::hit>(targets[index], i);
  }
  rt.wait_quiescence();
  const double seconds = rt.all_reduce(rt.now() - begin, [](double a, double b) { return a < b ? b : a; });
  seen all_seen;
  if (rt.rank().value() == 0) {
    all_seen = {rt.reduce<&counter::messages>(all, std::plus<>{}).get(),
                rt.reduce<&counter::sum>(all, std::plus<>{}).get()};
  }
  return report(rt, plan, seconds, all_seen);
}

bool measure(nacre::runtime& rt, const plan& plan) {
  rt.barrier();
  const double begin = rt.now();
  if (plan.from_handlers) {
    for (std::uint32_t each = 0; each < rt.workers(); ++each) {
      rt.send<send_from_handler>(rt.rank(), plan.messages * each / rt.workers(),
                                 plan.messages * (each + 1) / rt.workers(), plan.remote_only);
    }
  } else {
    send_numbers(rt, 0, plan.messages, plan.remote_only);
  }
  rt.wait_quiescence();
  const double seconds = rt.all_reduce(rt.now() - begin, [](double a, double b) { return a < b ? b : a; });
  const seen seen = run_here(rt);
  return report(rt, plan, seconds,
                {rt.all_reduce(seen.messages, std::plus<>{}), rt.all_reduce(seen.sum, std::plus<>{})});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    plan plan;
    nacre::program_options options("message_rate",
                                   "Small messages to random ranks: how many are sent, run and counted?");
    options.add("--messages", plan.messages, "Messages that each rank sends");
    options.add("--elements", plan.elements, "Sent by main to so many elements of an array, instead of to ranks");
    options.add("--remote", plan.remote_only, "None to a rank itself");
    options.add("--handlers", plan.from_handlers, "Sent by handlers, one on each worker, instead of by main");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    std::atomic<bool> complete = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (rt.size() * rt.workers() > workers_max) throw nacre::usage_error("at most 4096 workers: choose fewer ranks");
      if (!(plan.elements != 0 ? measure_elements(rt, plan) : measure(rt, plan))) complete = false;
    });
    return code != 0 ? code : (complete ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "message_rate: {}\n", error.what());
    return 2;
  }
}
