// SPDX-License-Identifier: Apache-2.0
// The search.
#include "model/explorer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/options.hpp"

namespace model {
namespace {

/// Far more than any program here needs when each message gets somewhere.
constexpr std::size_t choices_max = 100;

struct identity_hash {
  std::size_t operator()(const job::identity& identity) const noexcept {
    std::uint64_t hash = 0;
    for (const std::uint64_t each : identity) hash = (hash ^ each) * 0x9e3779b97f4a7c15U + (hash >> 31);
    return static_cast<std::size_t>(hash);
  }
};

std::string text(const std::vector<choice>& path) {
  std::string all;
  for (const choice& each : path) {
    const std::string rank = std::to_string(each.rank);
    switch (each.event) {
      case choice::kind::act:
        all += " act(" + rank + ")";
        break;
      case choice::kind::deliver:
        all += " deliver(" + std::to_string(each.wire.source) + "->" + rank + " on channel " +
               std::to_string(static_cast<int>(each.wire.message_channel)) + ")";
    }
  }
  return all;
}

class search {
 public:
  search(const program& program, const circumstances& conditions, std::uint64_t forwards_max)
      : program_(program),
        conditions_(conditions),
        forwards_max_(forwards_max),
        configuration_(nacre::all_option_tables()) {
    configuration_.set("transport", "sim");
    configuration_.set("sim.cost.factor", "0");  // the explorer orders events itself; time would only divide states
    configuration_.set("workers", "1");
    configuration_.set("balancer", "none");
    configuration_.set("deadlock_patience", "0s");  // its clock stands still, so that a wait for an instant has no end
    configuration_.set("aggregate", "off");
    configuration_.set("location", conditions.location);
    configuration_.set("hops_max", std::to_string(conditions.hops_max));
  }

  exploration all() {
    go_down(begin());
    while (!path_.empty() && exploration_.wrong.empty()) {
      visited& visited = path_.back();
      if (++visited.taken != visited.choices.size()) {
        go_down(begin());
        continue;
      }
      const double ways = visited.ways;
      known_[visited.state] = ways;
      path_.pop_back();
      (path_.empty() ? exploration_.interleavings : path_.back().ways) += ways;
    }
    exploration_.states = known_.size();
    return std::move(exploration_);
  }

 private:
  /// A state on the present path, and the branches that leave it.
  struct visited {
    job::identity state;
    std::vector<choice> choices;
    std::size_t taken = 0;
    double ways = 0;
  };

  [[nodiscard]] std::vector<choice> choices_taken() const {
    std::vector<choice> all;
    for (const visited& each : path_) all.push_back(each.choices[each.taken]);
    return all;
  }

  /// A job that has come as far as the path, the branch to take last included.
  std::unique_ptr<job> begin() {
    ++exploration_.jobs;
    auto fresh = std::make_unique<job>(program_, conditions_, configuration_);
    for (const choice& each : choices_taken()) fresh->take(each);
    return fresh;
  }

  /// Takes the first branch of each new state, until one is known or the end.
  void go_down(std::unique_ptr<job> now) {
    for (;;) {
      if (!now->failure().empty()) return blame(now->failure());
      const auto [place, fresh] = known_.try_emplace(now->state(), 0);
      if (!fresh) {
        path_.back().ways += place->second;
        return;
      }
      if (now->forwards() > forwards_max_) {
        place->second = 1;
        path_.back().ways += 1;
        ++exploration_.left;
        return;
      }
      std::vector<choice> choices = now->choices();
      if (choices.empty()) {
        place->second = 1;
        path_.back().ways += 1;
        ++exploration_.ends;
        return blame(now->judge());
      }
      if (path_.size() == choices_max) return blame("there is no end");
      path_.push_back({now->state(), std::move(choices)});
      now->take(path_.back().choices.front());
    }
  }

  void blame(const std::string& wrong) {
    if (!wrong.empty()) exploration_.wrong = wrong + "\nafter" + text(choices_taken());
  }

  const program& program_;
  const circumstances& conditions_;
  std::uint64_t forwards_max_;
  nacre::config configuration_;
  std::vector<visited> path_;
  std::unordered_map<job::identity, double, identity_hash> known_;  // to the number of ways to an end
  exploration exploration_;
};

}  // namespace

exploration explore(const program& program, const circumstances& circumstances, std::uint64_t forwards_max) {
  return search(program, circumstances, forwards_max).all();
}

}  // namespace model
