// SPDX-License-Identifier: Apache-2.0
// The transitions of ranks and manager; the header has the states and invariants.
#include "balance/balancer/share_balancer.hpp"

#include <algorithm>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/backoff.hpp"

namespace nacre::balance {
namespace {

enum class share_kind : std::uint8_t { offer, request, order, returned, given };
constexpr std::uint32_t chunks_max = 1u << 30;

[[nodiscard]] constexpr bool wire_valid(share_kind kind) noexcept { return kind <= share_kind::given; }

}  // namespace

struct share_balancer::message {
  share_kind kind = share_kind::offer;
  std::uint32_t number = 0;  // offer: number of chunks; else number of the request
  rank_id rank;              // order, returned: the rank that asked

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, rank);
  }
};

rank_id share_balancer::manager(const balancer_host& host) const noexcept {
  return rank_id{std::min(parameters_.manager, host.size() - 1)};
}

/// Sends a message, or handles it at once when the manager sends it to itself.
void share_balancer::send(balancer_host& host, rank_id target, const message& m) {
  if (target == host.rank()) {
    receive(host, target, m);
  } else {
    host.send(target, pack(m));
  }
}

void share_balancer::on_tick(balancer_host& host) {
  if (host.size() < 2) return;
  surplus_.look(host);
  offer(host);
  if (waiting_ || host.now() < ask_at_ || !surplus_.needy()) return;
  waiting_ = true;
  offered_ = 0;
  if (++number_ == 0) number_ = 1;  // 0 names no request
  send(host, manager(host), {share_kind::request, number_, {}});
}

/// Sends an offer if it has changed much. The number of waiting items is checked first, since it costs less than a look
/// at objects.
void share_balancer::offer(balancer_host& host) {
  const auto worth_telling = [this](std::size_t spare) {
    const std::size_t chunks = spare / parameters_.chunk;
    return (chunks == 0) != (offered_ == 0) || 2 * chunks <= offered_ || chunks >= std::size_t{2} * offered_;
  };
  if (host.now() < offer_at_) return;
  if (surplus_.spare_at_most() / parameters_.chunk == offered_ || !worth_telling(surplus_.spare_at_most())) return;
  offer_at_ = host.now() + parameters_.interval;
  const std::size_t spare = surplus_.spare(host);
  const auto chunks = static_cast<std::uint32_t>(std::min<std::size_t>(spare / parameters_.chunk, chunks_max));
  if (chunks == offered_ || !worth_telling(spare)) return;
  offered_ = chunks;
  if (chunks != 0) waiting_ = false;
  send(host, manager(host), {share_kind::offer, chunks, {}});
}

void share_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<message, wire_error> m = unpack<message>(bytes);
  if (m && source != host.rank() && source.value() < host.size()) receive(host, source, *m);
}

void share_balancer::receive(balancer_host& host, rank_id source, const message& m) {
  switch (m.kind) {
    case share_kind::order:
      if (source == manager(host)) apply_order(host, m);
      return;
    case share_kind::given:
      if (!waiting_ || m.number != number_) return;
      waiting_ = false;
      ask_at_ = host.now() + parameters_.arrival_timeout;
      return;
    default:
      if (host.rank() == manager(host)) receive_as_manager(host, source, m);
  }
}

void share_balancer::apply_order(balancer_host& host, const message& order) {
  if (order.rank == host.rank() || order.rank.value() >= host.size()) return;
  surplus_.look(host);
  const std::span<const object_load> given = surplus_.heaviest(host, surplus_.at_a_time(host, parameters_.chunk));
  std::size_t left = 0;
  for (const object_load& each : given) left += host.migrate_if_worth(each.object, order.rank) ? 1 : 0;
  if (left == 0) {
    offered_ = 0;
    send(host, manager(host), {share_kind::offer, 0, {}});
    return send(host, manager(host), {share_kind::returned, order.number, order.rank});
  }
  if (offered_ != 0) --offered_;
  send(host, order.rank, {share_kind::given, order.number, {}});
}

void share_balancer::receive_as_manager(balancer_host& host, rank_id source, const message& m) {
  offers_.resize(host.size());
  const request asked = m.kind == share_kind::returned ? request{m.rank, m.number} : request{source, m.number};
  if (m.kind == share_kind::offer) {
    offers_[source.value()] = m.number;
    if (m.number != 0) withdraw(source);
  } else if (asked.rank.value() < host.size()) {
    withdraw(asked.rank);  // a rank has at most one request open
    if (m.kind == share_kind::request) offers_[source.value()] = 0;
    line_.insert(m.kind == share_kind::returned ? line_.begin() : line_.end(), asked);
  }
  match(host);
}

void share_balancer::withdraw(rank_id requester) {
  std::erase_if(line_, [&](const request& each) { return each.rank == requester; });
}

void share_balancer::match(balancer_host& host) {
  std::uint32_t passed = 0;  // ranks in a row that offer nothing
  while (passed < host.size() && !line_.empty()) {
    cursor_ = (cursor_ + 1) % host.size();
    if (offers_[cursor_] == 0 || rank_id{cursor_} == line_.front().rank) {
      ++passed;
      continue;
    }
    passed = 0;
    const request served = line_.front();
    line_.pop_front();
    --offers_[cursor_];
    send(host, rank_id{cursor_}, {share_kind::order, served.number, served.rank});
  }
}

std::unique_ptr<balancer> make_share_balancer(const config& configuration) {
  return std::make_unique<share_balancer>(share_balancer::options{
      .manager = static_cast<std::uint32_t>(configuration.get_int("balance.share.manager")),
      .chunk = static_cast<std::uint32_t>(configuration.get_int("balance.share.chunk")),
      .interval = seconds_of(configuration, "balance.share.interval"),
      .arrival_timeout = seconds_of(configuration, "balance.share.arrival_timeout"),
  });
}

}  // namespace nacre::balance
