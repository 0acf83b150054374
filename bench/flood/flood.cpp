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
  route to = route::next_rank;
  double seconds = 0;
};

void branch(nacre::context& ctx, cargo what, std::uint64_t left, tree how) {
  if (left <= 1) return sink(ctx, what, how.seconds);
  const std::uint64_t children = std::min<std::uint64_t>(left, how.fan);
  for (std::uint64_t i = 0; i < children; ++i) {
    std::uint64_t offset = how.to == tree::route::next_rank ? 1 : 0;
    if (how.to == tree::route::all_ranks) offset = i + left;
    const nacre::rank_id to{static_cast<std::uint32_t>((ctx.rank().value() + offset) % ctx.size())};
    ctx.send<branch>(to, what, left / children + (i < left % children ? 1 : 0), how);
  }
}

/// Sends some to the next rank, and itself to its own for the rest.
void generate(nacre::context& ctx, cargo what, std::uint64_t left, std::uint64_t at_once, double seconds) {
  const nacre::rank_id next{(ctx.rank().value() + 1) % ctx.size()};
  const std::uint64_t now = std::min(left, at_once);
  for (std::uint64_t i = 0; i < now; ++i) ctx.send<sink>(next, what, seconds);
  if (left != now) ctx.send<generate>(ctx.rank(), what, left - now, at_once, seconds);
}

struct basin {
  std::uint64_t count = 0;
  void take(nacre::context& ctx, cargo what, double seconds) {
    ++count;
    sink(ctx, what, seconds);
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
  void meet(nacre::mobile_ptr<spring> own, nacre::mobile_ptr<spring> other) {
    self = own;
    next = other;
  }
  void take(nacre::context& ctx, cargo what, double seconds) { sink(ctx, what, seconds); }
  void generate(nacre::context& ctx, cargo what, std::uint64_t left, double seconds) {
    const std::uint64_t now = std::min<std::uint64_t>(left, 64);
    for (std::uint64_t i = 0; i < now; ++i) ctx.send<&spring::take>(next, what, seconds);
    if (left != now) ctx.send<&spring::generate>(self, what, left - now, seconds);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(self, next);
  }
};

/// Starts what this rank adds. Returns the messages that come of it.
std::uint64_t begin_flood(nacre::runtime& rt, const plan& how) {
  const std::uint32_t self = rt.rank().value();
  const nacre::rank_id next{(self + 1) % rt.size()};
  const bool leaves = how.pattern == "tree" || how.pattern == "spread" || how.pattern == "echo";
  if (leaves) {
    const tree::route to = how.pattern == "tree"   ? tree::route::own_rank
                           : how.pattern == "echo" ? tree::route::next_rank
                                                   : tree::route::all_ranks;
    rt.send<branch>(rt.rank(), cargo{}, how.messages, tree{how.fan, to, how.work_seconds});
  } else if (how.pattern == "chain" || how.pattern == "burst") {
    const std::uint64_t at_once = how.pattern == "chain" ? 64 : how.messages;
    rt.send<generate>(rt.rank(), cargo{}, how.messages, at_once, how.work_seconds);
  } else if (how.pattern == "object") {
    const auto target = rt.create_on<basin>(next).get();
    for (std::uint64_t i = 0; i < how.messages; ++i) rt.send<&basin::take>(target, cargo{i}, how.work_seconds);
  } else if (how.pattern == "springs") {
    const auto mine = rt.create<spring>();
    std::vector<nacre::mobile_ptr<spring>> all = rt.all_gather(mine);
    rt.send<&spring::meet>(mine, mine, all[next.value()]);
    rt.send<&spring::generate>(mine, cargo{}, how.messages, how.work_seconds);
  } else if (how.pattern == "one" && self != 0) {
    return 0;
  } else {
    for (std::uint64_t i = 0; i < how.messages; ++i) {
      std::uint32_t offset = how.pattern == "self" ? 0 : 1;
      if (how.pattern == "all") offset = static_cast<std::uint32_t>(1 + i % (rt.size() - 1));
      rt.send<sink>(nacre::rank_id{(self + offset) % rt.size()}, cargo{i}, how.work_seconds);
    }
  }
  return how.messages;
}

bool flood(nacre::runtime& rt, const plan& how) {
  const std::uint32_t self = rt.rank().value();
  const double before = peak_mib();
  rt.barrier();
  const double begin = rt.now();
  const std::uint64_t sent = begin_flood(rt, how);
  rt.wait_quiescence();
  const double seconds = rt.now() - begin;
  const std::uint64_t all_sent = rt.all_reduce(sent, std::plus<>{});
  const std::uint64_t all_run = rt.all_reduce(run_on(rt.rank()).load(), std::plus<>{});
  fmt::print("rank {}: {} sent, {} run, {:.2f} s, peak memory {:.0f} MiB ({:.0f} MiB before)\n", self, sent,
             run_on(rt.rank()).load(), seconds, peak_mib(), before);
  if (all_sent != all_run) fmt::print("rank {}: messages are missing\n", self);
  const bool bounded = (how.peak_mib_max == 0 || peak_mib() <= how.peak_mib_max) &&
                       (how.growth_mib_max == 0 || peak_mib() - before <= how.growth_mib_max);
  if (!bounded) fmt::print("rank {}: more memory than it may take\n", self);
  return all_sent == all_run && bounded;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    plan how;
    double work_us = 1;
    nacre::program_options options("flood",
                                   "Messages come faster than they can be run. Who is slowed, and what is kept?");
    options.add("--pattern", how.pattern, "Who floods whom, see below")
        .one_of({"one", "two", "all", "self", "object", "echo", "tree", "spread", "chain", "springs", "burst"});
    options.add("--messages", how.messages, "Messages of each rank that floods");
    options.add("--work", work_us, "What each takes to run").called("US").between(0, 1e9);
    options.add("--fan", how.fan, "Messages that each handler of a tree sends").between(1, 1e6);
    options.add("--peak-max", how.peak_mib_max, "It fails with more memory than this").called("MIB").otherwise("any");
    options.add("--growth-max", how.growth_mib_max, "And with so much more than at the begin")
        .called("MIB")
        .otherwise("any");
    options.footer(std::string("Patterns ") + patterns);
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    how.work_seconds = work_us * 1e-6;
    std::atomic<bool> well = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (!flood(rt, how)) well = false;
    });
    return code != 0 ? code : (well ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "flood: {}\n", error.what());
    return 2;
  }
}
