// SPDX-License-Identifier: Apache-2.0
// Plans moves of objects by greedy refinement.
#include "balance/balancer/refine_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "balance/balancer/offers.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {
namespace {

/// The least gain of a move, as a part of the giver's load; a smaller one may be a rounding error.
constexpr double least_gain = 1e-9;

bool heavier(const object_load& a, const object_load& b) noexcept { return a.load > b.load; }

/// Traffic between objects, and the rank of each object as the plan has it so far.
class traffic_graph {
 public:
  explicit traffic_graph(const std::vector<refine_report>& ranks) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      for (const object_load& each : ranks[rank].movable) location_.emplace(each.object, rank_id{rank});
    }
    for (const refine_report& report : ranks) {
      for (const refine_talk& each : report.talks) {
        if (!(sane(each.weight) > 0) || !location_.contains(each.object) || each.object == each.partner) continue;
        if (each.partner_rank.value() < ranks.size()) location_.emplace(each.partner, each.partner_rank);
        if (!location_.contains(each.partner)) continue;
        talks_.push_back({each.object, each.partner, {}, sane(each.weight)});
      }
    }
    for (const refine_talk& each : talks_) {
      traffic_[each.object].push_back({each.partner, each.weight});
      traffic_[each.partner].push_back({each.object, each.weight});
    }
  }

  [[nodiscard]] bool empty() const noexcept { return talks_.empty(); }
  void move(object_id object, rank_id target) { location_[object] = target; }

  /// Calls visit(rank, weight) for each object with which `object` has traffic.
  template <class Visit>
  void for_each(object_id object, const Visit& visit) const {
    const auto match = traffic_.find(object);
    if (match == traffic_.end()) return;
    for (const traffic_edge& each : match->second) visit(location_.at(each.object), each.weight);
  }
  /// The sum of all traffic between ranks.
  [[nodiscard]] double between_ranks() const {
    double sum = 0;
    for (const refine_talk& each : talks_)
      sum += location_.at(each.object) != location_.at(each.partner) ? each.weight : 0;
    return sum;
  }

 private:
  struct traffic_edge {
    object_id object;
    double weight;
  };
  std::unordered_map<object_id, rank_id> location_;
  std::unordered_map<object_id, std::vector<traffic_edge>> traffic_;
  std::vector<refine_talk> talks_;
};

class plan {
 public:
  plan(const std::vector<refine_report>& ranks, double tolerance) {
    double sum = 0;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      sum += ranks[rank].load;
      by_load_.emplace(ranks[rank].load, rank);
      loads_.push_back(ranks[rank].load);
      movable_.push_back(ranks[rank].movable);
      std::stable_sort(movable_.back().begin(), movable_.back().end(), heavier);
    }
    bound_ = sum / static_cast<double>(ranks.size()) * (1 + tolerance);
    traffic_.resize(ranks.size());
  }

  /// `known`: null, or the traffic to go by; it is told of every move.
  void make(traffic_graph* known) {
    while (by_load_.size() > 1) {
      const auto [most, giver] = *by_load_.rbegin();
      const auto [least, receiver] = *by_load_.begin();
      if (most <= bound_) break;
      const std::vector<object_load>& movable = movable_[giver];
      // The heaviest that fits below the bound; else the lightest, if that helps at all.
      const auto fits =
          std::partition_point(movable.begin(), movable.end(),
                               [&, below = least](const object_load& each) { return !(below + each.load <= bound_); });
      choice chosen{static_cast<std::size_t>(fits - movable.begin()), receiver};
      if (fits == movable.end() && !movable.empty()) --chosen.object;
      if (movable.empty() || !(movable[chosen.object].load > 0) ||
          least + movable[chosen.object].load >= most * (1 - least_gain)) {
        by_load_.erase(std::prev(by_load_.end()));  // nothing helps this one
        continue;
      }
      if (known != nullptr && fits != movable.end()) chosen = best_by_traffic(*known, giver, chosen);
      take(giver, chosen, known);
    }
  }
  [[nodiscard]] double most() const { return *std::max_element(loads_.begin(), loads_.end()); }
  [[nodiscard]] double bound() const noexcept { return bound_; }
  [[nodiscard]] const std::vector<refine_move>& moves() const noexcept { return moves_; }

 private:
  struct choice {
    std::size_t object;  // index in movable_ of the giver
    std::uint32_t receiver;
  };

  /// The pair that brings the most traffic inside one rank, among objects about as heavy as that of `first` and
  /// receivers that stay within the bound; the first of equals. One look at each partner of an object, of which there
  /// may be as many as objects.
  [[nodiscard]] choice best_by_traffic(const traffic_graph& known, std::uint32_t giver, const choice& first) {
    const std::vector<object_load>& movable = movable_[giver];
    const double enough = movable[first.object].load * about_as_heavy;
    choice best = first;
    double most = 0;
    bool any = false;
    const auto consider = [&](std::size_t index, std::uint32_t receiver) {
      if (receiver == giver || loads_[receiver] + movable[index].load > bound_) return;
      const double gain = traffic_[receiver] - traffic_[giver];
      if (any && gain <= most) return;
      any = true;
      most = gain;
      best = {index, receiver};
    };
    for (std::size_t index = first.object; index < movable.size() && movable[index].load >= enough; ++index) {
      known.for_each(movable[index].object, [&](rank_id rank, double weight) {
        if (traffic_[rank.value()] == 0) partners_.push_back(rank.value());
        traffic_[rank.value()] += weight;
      });
      consider(index, first.receiver);
      for (const std::uint32_t rank : partners_) consider(index, rank);
      for (const std::uint32_t rank : partners_) traffic_[rank] = 0;
      partners_.clear();
    }
    return best;
  }

  void take(std::uint32_t giver, const choice& chosen, traffic_graph* known) {
    const auto position = movable_[giver].begin() + static_cast<std::ptrdiff_t>(chosen.object);
    const object_load moved = *position;
    movable_[giver].erase(position);
    moves_.push_back({moved.object, rank_id{giver}, rank_id{chosen.receiver}});
    change(giver, -moved.load);
    change(chosen.receiver, moved.load);
    if (known != nullptr) known->move(moved.object, rank_id{chosen.receiver});
  }
  /// Adds `factor` to a rank's load. A rank that is not in by_load_, since no move helps it, stays out.
  void change(std::uint32_t rank, double factor) {
    const bool in_play = by_load_.erase({loads_[rank], rank}) != 0;
    loads_[rank] += factor;
    if (in_play) by_load_.emplace(loads_[rank], rank);
  }

  double bound_ = 0;
  std::set<std::pair<double, std::uint32_t>> by_load_;
  std::vector<double> loads_;
  std::vector<std::vector<object_load>> movable_;
  std::vector<refine_move> moves_;
  // Of the object that is considered: its traffic by rank, and the ranks with which it has any.
  std::vector<double> traffic_;
  std::vector<std::uint32_t> partners_;
};

}  // namespace

std::vector<refine_move> refine(const std::vector<refine_report>& ranks, double tolerance) {
  plan plain(ranks, tolerance);
  plain.make(nullptr);
  if (plain.moves().empty()) return {};
  traffic_graph known(ranks);
  if (known.empty()) return plain.moves();
  traffic_graph after_plain(known);
  for (const refine_move& each : plain.moves()) after_plain.move(each.object, each.target);
  plan near(ranks, tolerance);
  near.make(&known);
  const bool balanced = near.most() <= std::max(near.bound(), plain.most());
  return balanced && known.between_ranks() < after_plain.between_ranks() ? near.moves() : plain.moves();
}

}  // namespace nacre::balance
