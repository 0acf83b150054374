// SPDX-License-Identifier: Apache-2.0
// Gathering, deciding, obeying; states and invariants stand in the header.
#include "balance/balancer/greedy_refine_balancer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {
namespace {

enum class refine_kind : std::uint8_t { look, report, moves };
[[nodiscard]] constexpr bool wire_valid(refine_kind kind) noexcept { return kind <= refine_kind::moves; }

/// A part of the load by which a move must make things better: what rounding could pretend is no gain.
constexpr double least_gain = 1e-9;

bool heavier(const object_load& a, const object_load& b) noexcept { return a.load > b.load; }

struct wire_object {
  std::uint64_t object = 0;
  double load = 0;       // report
  std::uint32_t to = 0;  // moves

  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, load, to);
  }
};

}  // namespace

struct greedy_refine_balancer::message {
  refine_kind kind = refine_kind::look;
  std::uint32_t number = 0;
  double load = 0;  // report
  std::vector<wire_object> objects;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, load, objects);
  }
};

std::vector<refine_move> refine(std::vector<refine_report> ranks, double tolerance) {
  double sum = 0;
  std::set<std::pair<double, std::uint32_t>> by_load;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    sum += ranks[rank].load;
    by_load.emplace(ranks[rank].load, rank);
    std::stable_sort(ranks[rank].movable.begin(), ranks[rank].movable.end(), heavier);
  }
  const double bound = sum / static_cast<double>(ranks.size()) * (1 + tolerance);
  std::vector<refine_move> moves;
  while (by_load.size() > 1) {
    const auto [most, giver] = *by_load.rbegin();
    const auto [least, receiver] = *by_load.begin();
    if (most <= bound) break;
    std::vector<object_load>& movable = ranks[giver].movable;
    // The heaviest that fits below the bound; else the lightest, if that helps at all.
    auto chosen = std::find_if(movable.begin(), movable.end(),
                               [&, below = least](const object_load& each) { return below + each.load <= bound; });
    if (chosen == movable.end() && !movable.empty()) chosen = movable.end() - 1;
    if (chosen == movable.end() || !(chosen->load > 0) || least + chosen->load >= most * (1 - least_gain)) {
      by_load.erase(std::prev(by_load.end()));  // nothing helps this one
      continue;
    }
    const object_load moved = *chosen;
    movable.erase(chosen);
    moves.push_back({moved.object, rank_id{giver}, rank_id{receiver}});
    by_load.erase(by_load.begin());
    by_load.erase(std::prev(by_load.end()));
    by_load.emplace(most - moved.load, giver);
    by_load.emplace(least + moved.load, receiver);
  }
  return moves;
}

refine_report greedy_refine_balancer::own_report(balancer_host& host) const {
  refine_report own;
  for (const object_load& each : host.local_loads()) {
    own.load += sane(each.load);
    if (each.running || !(each.load > 0) || !worth_moving(each)) continue;
    own.movable.push_back(each);
    own.movable.back().load = sane(each.load);
  }
  std::stable_sort(own.movable.begin(), own.movable.end(), heavier);
  if (own.movable.size() > parameters_.objects_max) own.movable.resize(parameters_.objects_max);
  return own;
}

void greedy_refine_balancer::on_tick(balancer_host& host) {
  if (host.rank() != rank_id{0} || host.size() < 2 || gathering_ || host.now() < look_at_) return;
  gathering_ = true;
  ++number_;
  reports_.assign(host.size(), {});
  reported_.assign(host.size(), false);
  missing_ = host.size() - 1;
  const std::vector<std::byte> look = pack(message{refine_kind::look, number_, 0, {}});
  for (std::uint32_t rank = 1; rank < host.size(); ++rank) host.send(rank_id{rank}, look);
}

void greedy_refine_balancer::on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) {
  const expected<message, wire_error> m = unpack<message>(bytes);
  if (!m || from == host.rank() || from.value() >= host.size()) return;
  if (m->kind == refine_kind::report) return note(host, from, *m);
  if (from != rank_id{0}) return;
  if (m->kind == refine_kind::moves) return obey(host, *m);
  const refine_report own = own_report(host);
  message answer{refine_kind::report, m->number, own.load, {}};
  for (const object_load& each : own.movable) answer.objects.push_back({each.object.value(), each.load, 0});
  host.send(from, pack(answer));
}

void greedy_refine_balancer::note(balancer_host& host, rank_id from, const message& m) {
  if (!gathering_ || m.number != number_ || reported_[from.value()]) return;
  reported_[from.value()] = true;
  refine_report& report = reports_[from.value()];
  report.load = sane(m.load);
  for (const wire_object& each : m.objects) {
    report.movable.push_back({.object = object_id::from_value(each.object), .load = sane(each.load)});
  }
  if (--missing_ == 0) decide(host);
}

void greedy_refine_balancer::decide(balancer_host& host) {
  gathering_ = false;
  reports_[0] = own_report(host);
  std::vector<message> orders(host.size());
  const std::vector<refine_move> moves = refine(std::move(reports_), parameters_.tolerance);
  for (const refine_move& each : moves) {
    orders[each.from.value()].objects.push_back({each.object.value(), 0, each.to.value()});
  }
  for (std::uint32_t rank = 0; rank < host.size(); ++rank) {
    if (orders[rank].objects.empty()) continue;
    orders[rank].kind = refine_kind::moves;
    orders[rank].number = number_;
    if (rank == 0) {
      obey(host, orders[rank]);
    } else {
      host.send(rank_id{rank}, pack(orders[rank]));
    }
  }
  if (!moves.empty()) pace_.succeed();
  look_at_ = host.now() + pace_.fail(host.rng());
}

/// Objects that have begun to run or left since they were reported stay where they are.
void greedy_refine_balancer::obey(balancer_host& host, const message& m) const {
  std::set<object_id> here;
  for (const object_load& each : host.local_loads()) {
    if (!each.running) here.insert(each.object);
  }
  for (const wire_object& each : m.objects) {
    const object_id object = object_id::from_value(each.object);
    if (each.to < host.size() && each.to != host.rank().value() && here.erase(object) != 0) {
      host.migrate(object, rank_id{each.to});
    }
  }
}

std::unique_ptr<balancer> make_greedy_refine_balancer(const config& configuration) {
  return std::make_unique<greedy_refine_balancer>(greedy_refine_balancer::options{
      .pace = read_backoff(configuration, "balance.greedy_refine.interval", "balance.greedy_refine.interval_max"),
      .tolerance = configuration.get_double("balance.greedy_refine.tolerance"),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.greedy_refine.objects_max")),
  });
}

}  // namespace nacre::balance
