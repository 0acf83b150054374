// SPDX-License-Identifier: Apache-2.0
// Placing the wires, running the rounds, checking the results.
#include "rounds.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "network.hpp"
#include "wire.hpp"

namespace netsort {
namespace {

using nacre::rank_id;

/// The wires of a rank: an equal share, neighbours together.
std::pair<std::uint32_t, std::uint32_t> share_of(std::uint32_t rank, std::uint32_t ranks, std::uint32_t wires) {
  const auto bound = [&](std::uint64_t r) { return static_cast<std::uint32_t>(r * wires / ranks); };
  return {bound(rank), bound(rank + 1)};
}

/// Every wire, by number, on every rank.
std::vector<wire::pointer> place_wires(nacre::runtime& rt, const options& asked) {
  std::vector<wire::pointer> mine;
  if (asked.layout == placement::distributed) {
    const auto [first, end] = share_of(rt.rank().value(), rt.size(), asked.values);
    for (std::uint32_t number = first; number != end; ++number) mine.push_back(rt.create<wire>(number));
  } else if (rt.rank().value() == 0) {
    std::vector<nacre::future<void>> moves;
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      const auto [first, end] = share_of(rank, rt.size(), asked.values);
      for (std::uint32_t number = first; number != end; ++number) {
        mine.push_back(rt.create<wire>(number));
        if (rank != 0) moves.push_back(rt.migrate(mine.back(), rank_id{rank}));
      }
    }
    nacre::when_all(std::move(moves)).get();
  }
  std::vector<wire::pointer> all;
  for (const auto& part : rt.all_gather(mine)) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Tells wires to begin; whoever has created them does it.
void begin_wires(nacre::runtime& rt, const options& asked, const round_plan& plan,
                 const std::vector<wire::pointer>& all) {
  const bool everything = asked.layout == placement::central;
  if (everything && rt.rank().value() != 0) return;
  const auto [first, end] =
      everything ? std::pair(0u, asked.values) : share_of(rt.rank().value(), rt.size(), asked.values);
  for (std::uint32_t number = first; number != end; ++number) {
    std::vector<wire::pointer> partners;
    for (std::uint32_t bit = 0; bit < network(asked.values).bits(); ++bit)
      partners.push_back(all[number ^ (1u << bit)]);
    rt.send<&wire::begin>(all[number], plan, std::move(partners));
  }
}

/// On rank 0: whether the wires hold, one after the other, the keys that they began with, in order.
bool came_out_sorted(nacre::runtime& rt, const round_plan& plan, const std::vector<wire::pointer>& all) {
  std::vector<nacre::future<std::vector<key>>> answers;
  std::vector<key> expected, match;
  for (std::uint32_t number = 0; number < plan.wires; ++number) {
    answers.push_back(rt.call<&wire::keys>(all[number]));
    const std::vector<key> began = keys_of_wire(plan.seed, number, plan.keys);
    expected.insert(expected.end(), began.begin(), began.end());
  }
  for (auto& each : answers) {
    const std::vector<key> keys = each.get();
    match.insert(match.end(), keys.begin(), keys.end());
  }
  std::sort(expected.begin(), expected.end());
  return match == expected;
}

/// Takes the time and the counts of all ranks between its making and `end`. Both are collective, and the system is
/// quiet at both.
class measurement {
 public:
  explicit measurement(nacre::runtime& rt) : rt_(rt) { begin(); }
  void begin() {
    previous_ = rt_.counters();
    rt_.barrier();
    begin_ = rt_.now();
  }
  [[nodiscard]] phase_report end(std::uint64_t messages) {
    rt_.wait_quiescence();
    const double seconds = rt_.now() - begin_;
    const nacre::rank_counters now = rt_.counters();
    const auto sum = [&](std::uint64_t nacre::rank_counters::*count) {
      return rt_.all_reduce(now.*count - previous_.*count, std::plus<>{});
    };
    using counts = nacre::rank_counters;
    return {.seconds = rt_.all_reduce(seconds, [](double a, double b) { return std::max(a, b); }),
            .messages = messages,
            .hops = sum(&counts::hops),
            .forwards = sum(&counts::forwards),
            .updates = sum(&counts::updates_sent),
            .migrations = sum(&counts::migrations_out)};
  }

 private:
  nacre::runtime& rt_;
  nacre::rank_counters previous_;
  double begin_ = 0;
};

/// What the mains keep in an image.
struct progress {
  std::vector<wire::pointer> wires;
  std::uint32_t begun = 0;  ///< rounds
  sort_report report;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(wires, begun, report);
  }
};

}  // namespace

sort_report sort_by_network(nacre::runtime& rt, const options& asked) {
  auto now = rt.restored<progress>().value_or(progress{});
  if (now.wires.empty()) {
    measurement placing(rt);
    now.wires = place_wires(rt, asked);
    now.report.placing = placing.end(0);
  }
  // Each wire gets one message to begin, and one in each step.
  const std::uint64_t messages = std::uint64_t{asked.values} * (1 + network(asked.values).steps());
  const auto plan_of = [&](std::uint32_t round) {
    return round_plan{asked.values, asked.keys, asked.wander, asked.seed + round, asked.costs};
  };
  for (measurement sorting(rt);;) {
    if (now.begun != 0) {  // the round has ended, here or before the image
      now.report.rounds.push_back(sorting.end(messages));
      const bool well = rt.rank().value() != 0 || came_out_sorted(rt, plan_of(now.begun - 1), now.wires);
      now.report.sorted = rt.broadcast(well, rank_id{0}) && now.report.sorted;
      rt.wait_quiescence();
    }
    if (now.begun == asked.repetitions) return now.report;
    sorting.begin();
    begin_wires(rt, asked, plan_of(now.begun), now.wires);
    ++now.begun;
    rt.wait_quiescence(now);
  }
}

}  // namespace netsort
