// SPDX-License-Identifier: Apache-2.0
// Mobile objects of two weights.
#include "benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "weights.hpp"

namespace synthetic {
namespace {

/// Lives on rank 0, and hears of every object that is done.
struct board {
  std::uint64_t notices = 0;
  std::uint64_t computations = 0;
  double last_at = 0;
  std::map<std::uint64_t, double> core_seconds{};  // by rank << 32 | worker

  void note(nacre::context& ctx, const std::vector<std::pair<std::uint64_t, double>>& done_on) {
    ++notices;
    computations += done_on.size();
    last_at = ctx.now();
    for (const auto& [core, seconds] : done_on) core_seconds[core] += seconds;
  }
  board copy() const { return *this; }
  bool may_migrate() const { return false; }
  bool may_save() const { return true; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(notices, computations, last_at, core_seconds);
  }
};

struct piece {
  double seconds = 0;  // of a computation
  std::uint32_t left = 0;
  labour labour_kind = labour::charge;
  bool declares = false;
  nacre::mobile_ptr<board> tell{};
  std::vector<std::byte> data{};
  std::vector<std::pair<std::uint64_t, double>> done_on{};

  void compute(nacre::context& ctx) {
    ctx.charge(labour_kind == labour::charge ? seconds : 0);
    const double until = ctx.now() + seconds;
    if (labour_kind == labour::sleep) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    while (labour_kind == labour::spin && ctx.now() < until) continue;
    done_on.emplace_back((std::uint64_t{ctx.rank().value()} << 32) | ctx.worker().value(), seconds);
    if (--left == 0) ctx.send<&board::note>(tell, done_on);
  }
  double load() const { return declares ? seconds * left : 0; }
  double priority() const { return load(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, left, labour_kind, declares, tell, data, done_on);
  }
};

/// The objects of a core go to the rank that has it; cores are numbered rank by rank.
std::vector<nacre::mobile_ptr<piece>> disperse(nacre::runtime& rt, const options& asked,
                                               const std::vector<double>& seconds, nacre::mobile_ptr<board> tell) {
  std::vector<nacre::mobile_ptr<piece>> all;
  std::vector<nacre::future<void>> moved;
  for (std::size_t index = 0; index < seconds.size(); ++index) {
    const std::uint64_t core = core_of(index, seconds.size(), asked.cores);
    const nacre::rank_id home{static_cast<std::uint32_t>(core * rt.size() / asked.cores)};
    all.push_back(rt.create<piece>(seconds[index] / asked.computations, asked.computations, asked.labour_kind,
                                   asked.declare, tell, std::vector<std::byte>(asked.bytes)));
    if (home != rt.rank()) moved.push_back(rt.migrate(all.back(), home));
  }
  for (nacre::future<void>& each : moved) each.get();
  return all;
}

/// The state that mains keep in an image.
struct progress {
  nacre::mobile_ptr<board> tell;
  std::uint32_t cores = 0;
  double dispersed_seconds = 0;
  std::uint64_t moves_before = 0;  // to this rank, in this start of the job
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tell, cores, dispersed_seconds);
  }
};

/// Makes the objects, distributes them, and tells them to compute.
progress begin_benchmark(nacre::runtime& rt, const options& asked, const std::vector<double>& seconds) {
  progress begun{.tell = {}, .cores = asked.cores};
  rt.enable_balancing(false);
  rt.barrier();
  std::vector<nacre::mobile_ptr<piece>> all;
  if (rt.rank() == nacre::rank_id{0}) {
    begun.tell = rt.create<board>();
    all = disperse(rt, asked, seconds, begun.tell);
  }
  rt.barrier();
  rt.enable_balancing(true);
  begun.moves_before = rt.counters().migrations_in;
  rt.barrier();
  begun.dispersed_seconds = rt.now();
  for (const auto each : all) {
    for (std::uint32_t n = 0; n < asked.computations; ++n) rt.send<&piece::compute>(each);
  }
  return begun;
}

}  // namespace

result run_benchmark(nacre::runtime& rt, const options& given) {
  const std::optional<progress> previous = rt.restored<progress>();
  options asked = given;
  if (previous) asked.cores = previous->cores;
  if (asked.cores == 0) asked.cores = rt.size() * rt.workers();
  // Few have the file of recorded costs, and one rank needs them.
  const std::vector<double> seconds = rt.rank().value() == 0 ? weights(asked) : std::vector<double>();
  const progress now = previous ? *previous : begin_benchmark(rt, asked, seconds);
  result match{.cores = asked.cores, .objects = seconds.size(), .dispersed_seconds = now.dispersed_seconds};
  rt.wait_quiescence(now);
  match.moves = rt.all_reduce(rt.counters().migrations_in - now.moves_before, std::plus<>{});
  if (rt.rank() != nacre::rank_id{0}) return match;
  const board heard = rt.call<&board::copy>(now.tell).get();
  match.seconds = heard.last_at - now.dispersed_seconds;
  const std::uint32_t workers = rt.size() * rt.workers();
  match.least_core_seconds = heard.core_seconds.size() < workers ? 0 : 1e300;
  for (const auto& [core, busy] : heard.core_seconds) {
    match.least_core_seconds = std::min(match.least_core_seconds, busy);
    match.most_core_seconds = std::max(match.most_core_seconds, busy);
  }
  match.longest_first_seconds = longest_first(seconds, workers);
  match.placed_seconds = placed(seconds, asked.cores).most;
  match.exact = heard.notices == seconds.size() && heard.computations == seconds.size() * asked.computations;
  return match;
}

}  // namespace synthetic
