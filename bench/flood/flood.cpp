// SPDX-License-Identifier: Apache-2.0
// Does a rank that is overrun slow its senders, and does its memory stay bounded? Peak memory of each rank, and the
// count.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

namespace {

struct plan {
  std::uint64_t messages = 1'000'000;  // by each flooding rank
  double work_seconds = 1e-6;
  double peak_mib_max = 0;    // more memory than this is a failure; 0: none is
  double growth_mib_max = 0;  // and more than this since the begin
  std::uint32_t fan = 2;      // messages that each handler of a tree sends
  std::string pattern = "one";
};

constexpr const char* patterns =
    "from mains:\n"
    "  one, rank 0 floods rank 1; two, both; all, everybody everybody; self, its own rank;\n"
    "  object, one object of the next rank\n"
    "from handlers:\n"
    "  echo, a tree that goes to and fro; tree, one on its own rank; spread, one over all ranks;\n"
    "  chain, a handler that sends 64 messages and itself again; springs, the same between objects;\n"
    "  burst, one that sends all";

/// Messages run, by rank: several may share this process.
std::atomic<std::uint64_t>& run_on(nacre::rank_id rank) {
  static std::array<std::atomic<std::uint64_t>, 64> all;
  return all[rank.value() % all.size()];
}

void work_for(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) continue;
}

using cargo = std::array<std::uint64_t, 8>;

void sink(nacre::context& ctx, cargo, double seconds) {
  work_for(seconds);
  run_on(ctx.rank()).fetch_add(1, std::memory_order_relaxed);  // read after quiescence
}

/// How a tree of handlers grows: each starts `fan` more that share what is left.
struct tree {
  enum class route : std::uint8_t { next_rank, own_rank, all_ranks };
  std::uint32_t fan = 2;
  route direction = route::next_rank;
  double seconds = 0;
};

void branch(nacre::context& ctx, cargo cargo, std::uint64_t left, tree tree) {
  if (left <= 1) return sink(ctx, cargo, tree.seconds);
  const std::uint64_t children = std::min<std::uint64_t>(left, tree.fan);
  for (std::uint64_t i = 0; i < children; ++i) {
    std::uint64_t offset = tree.direction == tree::route::next_rank ? 1 : 0;
    if (tree.direction == tree::route::all_ranks) offset = i + left;
    const nacre::rank_id target{static_cast<std::uint32_t>((ctx.rank().value() + offset) % ctx.size())};
    ctx.send<branch>(target, cargo, left / children + (i < left % children ? 1 : 0), tree);
  }
}

/// Sends some to the next rank, and itself to its own for the rest.
void generate(nacre::context& ctx, cargo cargo, std::uint64_t left, std::uint64_t at_once, double seconds) {
  const nacre::rank_id next{(ctx.rank().value() + 1) % ctx.size()};
  const std::uint64_t now = std::min(left, at_once);
  for (std::uint64_t i = 0; i < now; ++i) ctx.send<sink>(next, cargo, seconds);
  if (left != now) ctx.send<generate>(ctx.rank(), cargo, left - now, at_once, seconds);
}

struct basin {
  std::uint64_t count = 0;
  void take(nacre::context& ctx, cargo cargo, double seconds) {
    ++count;
    sink(ctx, cargo, seconds);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};

double peak_mib() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024.0;
}

/// The same between objects, of which one is on each rank.
struct spring {
  nacre::mobile_ptr<spring> self, next;
  void meet(nacre::mobile_ptr<spring> object, nacre::mobile_ptr<spring> other) {
    self = object;
    next = other;
  }
  void take(nacre::context& ctx, cargo cargo, double seconds) { sink(ctx, cargo, seconds); }
  void generate(nacre::context& ctx, cargo cargo, std::uint64_t left, double seconds) {
    const std::uint64_t now = std::min<std::uint64_t>(left, 64);
    for (std::uint64_t i = 0; i < now; ++i) ctx.send<&spring::take>(next, cargo, seconds);
    if (left != now) ctx.send<&spring::generate>(self, cargo, left - now, seconds);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(self, next);
  }
};

/// Starts what this rank adds. Returns the messages that come of it.
std::uint64_t begin_flood(nacre::runtime& rt, const plan& plan) {
  const std::uint32_t self = rt.rank().value();
  const nacre::rank_id next{(self + 1) % rt.size()};
  const bool leaves = plan.pattern == "tree" || plan.pattern == "spread" || plan.pattern == "echo";
  if (leaves) {
    const tree::route route = plan.pattern == "tree"   ? tree::route::own_rank
                              : plan.pattern == "echo" ? tree::route::next_rank
                                                       : tree::route::all_ranks;
    rt.send<branch>(rt.rank(), cargo{}, plan.messages, tree{plan.fan, route, plan.work_seconds});
  } else if (plan.pattern == "chain" || plan.pattern == "burst") {
    const std::uint64_t at_once = plan.pattern == "chain" ? 64 : plan.messages;
    rt.send<generate>(rt.rank(), cargo{}, plan.messages, at_once, plan.work_seconds);
  } else if (plan.pattern == "object") {
    const auto target = rt.create_on<basin>(next).get();
    for (std::uint64_t i = 0; i < plan.messages; ++i) rt.send<&basin::take>(target, cargo{i}, plan.work_seconds);
  } else if (plan.pattern == "springs") {
    const auto mine = rt.create<spring>();
    std::vector<nacre::mobile_ptr<spring>> all = rt.all_gather(mine);
    rt.send<&spring::meet>(mine, mine, all[next.value()]);
    rt.send<&spring::generate>(mine, cargo{}, plan.messages, plan.work_seconds);
  } else if (plan.pattern == "one" && self != 0) {
    return 0;
  } else {
    for (std::uint64_t i = 0; i < plan.messages; ++i) {
      std::uint32_t offset = plan.pattern == "self" ? 0 : 1;
      if (plan.pattern == "all") offset = static_cast<std::uint32_t>(1 + i % (rt.size() - 1));
      rt.send<sink>(nacre::rank_id{(self + offset) % rt.size()}, cargo{i}, plan.work_seconds);
    }
  }
  return plan.messages;
}

bool flood(nacre::runtime& rt, const plan& plan) {
  const std::uint32_t self = rt.rank().value();
  const double previous = peak_mib();
  rt.barrier();
  const double begin = rt.now();
  const std::uint64_t sent = begin_flood(rt, plan);
  rt.wait_quiescence();
  const double seconds = rt.now() - begin;
  const std::uint64_t all_sent = rt.all_reduce(sent, std::plus<>{});
  const std::uint64_t all_run = rt.all_reduce(run_on(rt.rank()).load(), std::plus<>{});
  fmt::print("rank {}: {} sent, {} run, {:.2f} s, peak memory {:.0f} MiB ({:.0f} MiB before)\n", self, sent,
             run_on(rt.rank()).load(), seconds, peak_mib(), previous);
  if (all_sent != all_run) fmt::print("rank {}: messages are missing\n", self);
  const bool bounded = (plan.peak_mib_max == 0 || peak_mib() <= plan.peak_mib_max) &&
                       (plan.growth_mib_max == 0 || peak_mib() - previous <= plan.growth_mib_max);
  if (!bounded) fmt::print("rank {}: more memory than it may take\n", self);
  return all_sent == all_run && bounded;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    plan plan;
    double work_us = 1;
    nacre::program_options options("flood",
                                   "Messages come faster than they can be run. Who is slowed, and what is kept?");
    options.add("--pattern", plan.pattern, "Who floods whom, see below")
        .one_of({"one", "two", "all", "self", "object", "echo", "tree", "spread", "chain", "springs", "burst"});
    options.add("--messages", plan.messages, "Messages of each rank that floods");
    options.add("--work", work_us, "What each takes to run").called("US").between(0, 1e9);
    options.add("--fan", plan.fan, "Messages that each handler of a tree sends").between(1, 1e6);
    options.add("--peak-max", plan.peak_mib_max, "It fails with more memory than this").called("MIB").otherwise("any");
    options.add("--growth-max", plan.growth_mib_max, "And with so much more than at the begin")
        .called("MIB")
        .otherwise("any");
    options.footer(std::string("Patterns ") + patterns);
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    plan.work_seconds = work_us * 1e-6;
    std::atomic<bool> well = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (!flood(rt, plan)) well = false;
    });
    return code != 0 ? code : (well ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "flood: {}\n", error.what());
    return 2;
  }
}
