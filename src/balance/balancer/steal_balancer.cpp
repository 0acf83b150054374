// SPDX-License-Identifier: Apache-2.0
// The transitions of thief and victim; states and invariants stand in the header.
#include "balance/balancer/steal_balancer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nacre/archive.hpp>

namespace nacre::balance {
namespace {

enum class steal_kind : std::uint8_t { request, nothing, given };
[[nodiscard]] constexpr bool wire_valid(steal_kind kind) noexcept { return kind <= steal_kind::given; }

struct steal_message {
  steal_kind kind = steal_kind::request;
  std::uint32_t number = 0;  // of the request, in every kind
  double patience = 0;       // request: seconds that the thief would rest anyway

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, patience);
  }
};

void send(balancer_host& host, rank_id to, const steal_message& m) { host.send(to, pack(m)); }

}  // namespace

steal_balancer::steal_balancer(const options& parameters) : parameters_(parameters), pace_(parameters.pace) {}

void steal_balancer::on_tick(balancer_host& host) {
  if (!line_.empty()) {
    deal(host);
    send_off_expired(host);
  }
  look_for_work(host);
}

void steal_balancer::look_for_work(balancer_host& host) {
  const std::uint32_t idle = host.idle_workers();
  if (idle == 0) {
    pace_.succeed();
    rest_ = 0;
    ask_at_ = asked_at_ + pace_.min();
    return;
  }
  if (asking_ || host.size() < 2 || host.now() < ask_at_) return;
  if (count_surplus(host) == 0 && waiting_.size() < idle) ask(host);
}

void steal_balancer::ask(balancer_host& host) {
  auto victim = static_cast<std::uint32_t>(host.rng().below(host.size() - 1));
  if (victim >= host.rank().value()) ++victim;
  victim_ = rank_id{victim};
  asking_ = true;
  asked_at_ = host.now();
  send(host, victim_, {.kind = steal_kind::request, .number = ++number_, .patience = rest_});
}

void steal_balancer::on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) {
  const expected<steal_message, wire_error> m = unpack<steal_message>(bytes);
  if (!m || from == host.rank() || from.value() >= host.size()) return;
  if (m->kind == steal_kind::request) {
    const double patience = m->patience > 0 ? std::min(m->patience, pace_.max()) : 0;  // not a number counts as 0
    const double hold = host.idle_workers() == 0 ? parameters_.hold : 0;
    on_request(host, {from, m->number, host.now() + std::max(patience, hold)});
    return;
  }
  if (!asking_ || from != victim_ || m->number != number_) return;
  asking_ = false;
  if (m->kind == steal_kind::given) {
    pace_.succeed();
    rest_ = 0;
    ask_at_ = std::max(asked_at_ + pace_.min(), host.now() + parameters_.settle);
  } else {
    rest_ = pace_.fail(host.rng());
    ask_at_ = asked_at_ + rest_;
  }
}

void steal_balancer::on_request(balancer_host& host, thief who) {
  const auto same = std::find_if(line_.begin(), line_.end(), [&](const thief& each) { return each.rank == who.rank; });
  if (same != line_.end()) {
    *same = who;
  } else if (line_.size() < parameters_.waiting_max) {
    line_.push_back(who);
  } else {
    send(host, who.rank, {.kind = steal_kind::nothing, .number = who.number});
    return;
  }
  deal(host);
  send_off_expired(host);
}

/// Gives the line its share of the surplus.
void steal_balancer::deal(balancer_host& host) {
  const std::size_t spare = count_surplus(host);
  if (spare == 0) return;
  const std::size_t parties = line_.size() + 1;
  const std::size_t dealt = std::min(spare, parties * parameters_.objects_max);
  std::partial_sort(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(dealt), waiting_.end(),
                    [](const object_load& a, const object_load& b) {
                      return a.load > b.load || (a.load == b.load && a.object < b.object);
                    });
  for (std::size_t card = 0; card < dealt; ++card) {
    const std::size_t party = card % parties;
    if (party < line_.size()) host.migrate(waiting_[card].object, line_[party].rank);
  }
  const auto served = line_.begin() + static_cast<std::ptrdiff_t>(std::min(dealt, line_.size()));
  for (auto each = line_.begin(); each != served; ++each) {
    send(host, each->rank, {.kind = steal_kind::given, .number = each->number});
  }
  line_.erase(line_.begin(), served);
}

void steal_balancer::send_off_expired(balancer_host& host) {
  const double now = host.now();
  std::erase_if(line_, [&](const thief& each) {
    if (now < each.until) return false;
    send(host, each.rank, {.kind = steal_kind::nothing, .number = each.number});
    return true;
  });
}

/// Collects the objects that wait for a worker in waiting_; returns how many of them this rank can spare.
std::size_t steal_balancer::count_surplus(balancer_host& host) {
  waiting_.clear();
  for (const object_load& each : host.local_loads()) {
    if (each.running || each.messages == 0) continue;
    waiting_.push_back(each);
    if (!(each.load >= 0)) waiting_.back().load = 0;  // so that the order is one, whatever a type declares
  }
  return waiting_.size() - std::min<std::size_t>(waiting_.size(), host.idle_workers());
}

std::unique_ptr<balancer> make_steal_balancer(const config& configuration) {
  return std::make_unique<steal_balancer>(steal_balancer::options{
      .pace = read_backoff(configuration, "balance.steal.backoff", "balance.steal.backoff_max"),
      .hold = seconds_of(configuration, "balance.steal.hold"),
      .settle = seconds_of(configuration, "balance.steal.settle"),
      .waiting_max = static_cast<std::uint32_t>(configuration.get_int("balance.steal.waiting_max")),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.steal.objects_max")),
  });
}

}  // namespace nacre::balance
