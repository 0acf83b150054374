// SPDX-License-Identifier: Apache-2.0
// The transitions of diffusion; the header has the states and invariants.
#include "balance/balancer/diffusion_balancer.hpp"

#include <algorithm>
#include <utility>

#include <nacre/archive.hpp>

namespace nacre::balance {
namespace {

/// An object above this part of the difference of loads does not narrow it enough to be worth moving.
constexpr double worthwhile_part = 0.9;

enum class diffusion_kind : std::uint8_t { level_request, level, work_request, nothing, given };
[[nodiscard]] constexpr bool wire_valid(diffusion_kind kind) noexcept { return kind <= diffusion_kind::given; }

struct diffusion_message {
  diffusion_kind kind = diffusion_kind::level_request;
  std::uint32_t number = 0;   // of the look, in every kind
  double load = 0;            // level, work_request: of the sender
  std::uint32_t objects = 0;  // given: how many

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, load, objects);
  }
};

void send(balancer_host& host, rank_id target, const diffusion_message& m) { host.send(target, pack(m)); }

}  // namespace

diffusion_balancer::diffusion_balancer(const options& parameters)
    : parameters_(parameters), look_interval_(parameters.look_interval) {}

void diffusion_balancer::on_tick(balancer_host& host) {
  own_load_.reset();
  if (host.now() >= wanted_until_) wanted_ = false;
  if (host.size() < 2) return;
  if (!underloaded(host)) {
    look_interval_.succeed();
    look_at_ = looked_at_ + look_interval_.min();
  } else if (now_ == state::resting && host.now() >= look_at_ && !awaits_objects(host)) {
    look(host);
  }
}

bool diffusion_balancer::underloaded(balancer_host& host) {
  if (parameters_.low_load > 0 && own_load(host) < parameters_.low_load) return true;
  if (host.idle_workers() == 0) return false;
  surplus_.look(host);
  return surplus_.needy();
}

/// Whether promised objects are still in flight, so that the own load is too low. The wait is bounded, since a promised
/// object may stay where it is after all.
bool diffusion_balancer::awaits_objects(balancer_host& host) const {
  return host.arrivals() < arrivals_awaited_ && host.now() < awaits_until_;
}

double diffusion_balancer::own_load(balancer_host& host) {
  const std::uint64_t arrivals = host.arrivals();
  if (!own_load_ || arrivals != arrivals_seen_) own_load_ = sane(host.total_load());
  arrivals_seen_ = arrivals;
  return *own_load_;
}

void diffusion_balancer::look(balancer_host& host) {
  if (neighbours_.empty()) choose_neighbours(host);
  now_ = state::looking;
  looked_at_ = host.now();
  ++number_;
  for (neighbour& each : neighbours_) {
    each.load.reset();
    send(host, each.rank, {.kind = diffusion_kind::level_request, .number = number_});
  }
}

void diffusion_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<diffusion_message, wire_error> m = unpack<diffusion_message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  const bool mine = m->number == number_;
  const bool from_victim = mine && now_ == state::asking && source == neighbours_[victim_].rank;
  switch (m->kind) {
    case diffusion_kind::level_request:
      return send(host, source, {.kind = diffusion_kind::level, .number = m->number, .load = own_load(host)});
    case diffusion_kind::work_request: {
      const std::uint32_t gave = give(host, source, sane(m->load));
      wanted_ = gave == 0;
      wanted_until_ = host.now() + 2 * look_interval_.min();
      return send(
          host, source,
          {.kind = gave != 0 ? diffusion_kind::given : diffusion_kind::nothing, .number = m->number, .objects = gave});
    }
    case diffusion_kind::level:
      if (mine && now_ == state::looking) on_level(host, source, sane(m->load));
      return;
    case diffusion_kind::nothing:
      if (from_victim) on_refusal(host);
      return;
    case diffusion_kind::given:
      if (from_victim) on_success(host, m->objects);
      return;
  }
}

void diffusion_balancer::on_level(balancer_host& host, rank_id source, double load) {
  bool complete = true;
  for (neighbour& each : neighbours_) {
    if (each.rank == source) each.load = load;
    complete = complete && each.load.has_value();
  }
  if (complete) ask_highest(host);
}

/// Asks the highest neighbour that has not refused, if it is above the own load; else ends this look.
void diffusion_balancer::ask_highest(balancer_host& host) {
  const auto highest = std::max_element(neighbours_.begin(), neighbours_.end(),
                                        [](const neighbour& a, const neighbour& b) { return a.load < b.load; });
  if (highest->load <= own_load(host)) {
    if (now_ == state::looking) choose_neighbours(host);
    now_ = state::resting;
    look_at_ = host.now() + look_interval_.fail(host.rng());
    return;
  }
  victim_ = static_cast<std::size_t>(highest - neighbours_.begin());
  now_ = state::asking;
  arrivals_asked_ = host.arrivals();
  send(host, highest->rank, {.kind = diffusion_kind::work_request, .number = number_, .load = own_load(host)});
}

/// Replaces the neighbour that has nothing to give, and tries the next one.
void diffusion_balancer::on_refusal(balancer_host& host) {
  neighbour& refused = neighbours_[victim_];
  if (neighbours_.size() + 1 < host.size()) refused.rank = stranger(host);
  refused.load.reset();
  ask_highest(host);
}

void diffusion_balancer::on_success(balancer_host& host, std::uint32_t objects) {
  constexpr double waits_max = 4;  // of the longest intervals
  look_interval_.succeed();
  arrivals_awaited_ = arrivals_asked_ + objects;
  awaits_until_ = host.now() + waits_max * look_interval_.max();
  now_ = state::resting;
  look_at_ = host.now() + look_interval_.min();
}

void diffusion_balancer::choose_neighbours(balancer_host& host) {
  neighbours_.clear();
  const std::uint32_t others = host.size() - 1;
  if (others <= parameters_.neighbours) {
    for (std::uint32_t rank = 0; rank <= others; ++rank) {
      if (rank != host.rank().value()) neighbours_.push_back({rank_id{rank}, {}});
    }
  } else {
    while (neighbours_.size() < parameters_.neighbours) neighbours_.push_back({stranger(host), {}});
  }
}

/// A random rank that is neither this one nor a neighbour. There must be one.
rank_id diffusion_balancer::stranger(balancer_host& host) {
  while (true) {
    const rank_id drawn{static_cast<std::uint32_t>(host.rng().below(host.size()))};
    const bool known =
        std::any_of(neighbours_.begin(), neighbours_.end(), [&](const neighbour& each) { return each.rank == drawn; });
    if (drawn != host.rank() && !known) return drawn;
  }
}

/// Moves objects that narrow the difference to a rank with the load `load_there`; many at a time out of a large bag.
/// Returns the number of objects.
std::uint32_t diffusion_balancer::give(balancer_host& host, rank_id target, double load_there) {
  constexpr std::size_t candidates_for_each = 8;  // to choose from, heavy and light, for each object given
  const double load_here = own_load(host);
  surplus_.look(host);
  const std::size_t most = surplus_.at_a_time(host, parameters_.objects_max);
  std::size_t waiting = host.summary().waiting;
  candidates_.clear();
  for (const object_load& each :
       host.candidates(std::max(most, candidates_for_each * parameters_.objects_max), candidate_kind::any)) {
    if (each.load > 0 && each.load >= parameters_.object_load_min && worth_moving(each)) candidates_.push_back(each);
  }
  const std::size_t reserved = host.idle_workers();
  const double difference = load_here - load_there;
  double rest = std::min(difference / 2, load_here - parameters_.low_load);
  std::uint32_t moved = 0;
  const auto move_if = [&](const object_load& each, double load_max) {
    if (moved == most || !(each.load <= load_max)) return;
    if (each.messages != 0 && waiting <= reserved) return;
    if (!host.migrate_if_worth(each.object, target)) return;
    waiting -= each.messages != 0 && waiting != 0 ? 1 : 0;
    rest -= each.load;
    ++moved;
  };
  for (const object_load& each : candidates_) move_if(each, rest);
  if (moved == 0 && !candidates_.empty()) {
    move_if(candidates_.back(), std::min(worthwhile_part * difference, load_here - parameters_.low_load));
  }
  own_load_.reset();
  return moved;
}

std::unique_ptr<balancer> make_diffusion_balancer(const config& configuration) {
  return std::make_unique<diffusion_balancer>(diffusion_balancer::options{
      .neighbours = static_cast<std::uint32_t>(configuration.get_int("balance.diffusion.neighbours")),
      .low_load = configuration.get_double("balance.diffusion.low_load"),
      .object_load_min = configuration.get_double("balance.diffusion.object_load_min"),
      .look_interval = read_backoff(configuration, "balance.diffusion.interval", "balance.diffusion.interval_max"),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.diffusion.objects_max")),
  });
}

}  // namespace nacre::balance
