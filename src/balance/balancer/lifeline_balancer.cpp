// SPDX-License-Identifier: Apache-2.0
// The transitions of thief and victim; states and invariants stand in the header.
#include "balance/balancer/lifeline_balancer.hpp"

#include <algorithm>
#include <bit>

#include <nacre/archive.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {

enum class lifeline_kind : std::uint8_t { request, nothing, given, lifeline, caught, cancelled };
[[nodiscard]] constexpr bool wire_valid(lifeline_kind kind) noexcept { return kind <= lifeline_kind::cancelled; }

struct lifeline_message {
  lifeline_kind kind = lifeline_kind::request;
  std::uint32_t number = 0;   // request, nothing, given: of the request
  std::uint32_t thief = 0;    // request: whose it is
  std::uint32_t hops = 0;     // request: ranks that may still pass it on
  std::uint32_t objects = 0;  // given, caught: how many

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, thief, hops, objects);
  }
};

namespace {

void send(balancer_host& host, rank_id to, const lifeline_message& m) { host.send(to, pack(m)); }

[[nodiscard]] std::uint32_t edge_between(rank_id a, rank_id b) noexcept { return a.value() ^ b.value(); }

}  // namespace

void lifeline_balancer::on_tick(balancer_host& host) {
  deal(host);
  if (missed_) {
    own_.look(host);
    missed_ = own_.spare_at_most() == 0 && host.now() < missed_until_;
  }
  look_for_work(host);
}

void lifeline_balancer::look_for_work(balancer_host& host) {
  rests_ = false;
  if (host.size() < 2) return;
  bool needy = host.idle_workers() != 0;
  if (needy) {
    own_.look(host);
    needy = own_.needy();
  }
  if (!needy) {
    failures_ = 0;
    if (laid_ != 0) take_in_lifelines(host);
    return;
  }
  if (asking_ || awaits_objects(host)) return;
  if (failures_ >= std::min(parameters_.attempts, 1u)) {
    rests_ = true;
    return lay_lifelines(host);
  }
  asking_ = true;
  send(host, giver_ ? *giver_ : random_other_rank(host),
       {.kind = lifeline_kind::request,
        .number = ++number_,
        .thief = host.rank().value(),
        .hops = parameters_.attempts});
}

/// Who gives so many objects has a bag of them, and will be asked again first; who gives parts of a tree has few.
void lifeline_balancer::note_giver(rank_id who, std::uint32_t objects) {
  constexpr std::uint32_t a_bag = 16;
  if (objects >= a_bag) giver_ = who;
}

/// What was promised may have come before the promise. What has not come in time will not come: it has ended, or has
/// gone elsewhere.
bool lifeline_balancer::awaits_objects(balancer_host& host) {
  if (host.arrivals() >= promised_) return false;
  if (host.now() < ask_at_) return true;
  promised_ = host.arrivals();
  return false;
}

void lifeline_balancer::lay_lifelines(balancer_host& host) {
  for (std::uint32_t edge = 1; edge != 0 && edge < std::bit_ceil(host.size()); edge <<= 1) {
    const rank_id neighbour{host.rank().value() ^ edge};
    if (neighbour.value() >= host.size() || (laid_ & edge) != 0) continue;
    laid_ |= edge;
    send(host, neighbour, {.kind = lifeline_kind::lifeline});
  }
}

void lifeline_balancer::take_in_lifelines(balancer_host& host) {
  for (; laid_ != 0; laid_ &= laid_ - 1) {
    const std::uint32_t edge = laid_ & -laid_;
    send(host, rank_id{host.rank().value() ^ edge}, {.kind = lifeline_kind::cancelled});
  }
}

void lifeline_balancer::on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) {
  const expected<lifeline_message, wire_error> m = unpack<lifeline_message>(bytes);
  if (!m || from == host.rank() || from.value() >= host.size()) return;
  const bool awaited = asking_ && m->number == number_;
  const std::uint32_t edge = edge_between(host.rank(), from);
  switch (m->kind) {
    case lifeline_kind::request:
      return on_request(host, *m);
    case lifeline_kind::nothing:
      if (!awaited) return;
      asking_ = false;
      giver_.reset();
      ++failures_;
      return look_for_work(host);
    case lifeline_kind::given:
      if (!awaited) return;
      asking_ = false;
      note_giver(from, m->objects);
      return rejoice(host, m->objects);
    case lifeline_kind::lifeline:
      if (!std::has_single_bit(edge) || std::find(line_.begin(), line_.end(), from) != line_.end()) return;
      line_.push_back(from);
      return deal(host);
    case lifeline_kind::cancelled:
      std::erase(line_, from);
      return;
    case lifeline_kind::caught:
      if (!std::has_single_bit(edge) || (laid_ & edge) == 0) return;
      laid_ &= ~edge;
      note_giver(from, m->objects);
      return rejoice(host, m->objects);
  }
}

/// Whoever has nothing to give passes the request on, which saves the way back to the thief.
void lifeline_balancer::on_request(balancer_host& host, const lifeline_message& m) {
  const rank_id thief{m.thief};
  if (thief.value() >= host.size() || thief == host.rank()) return;
  if (own_.deal(host, std::span(&thief, 1), parameters_.objects_max) != 0) {
    const auto objects = static_cast<std::uint32_t>(own_.dealt_to(0));
    return send(host, thief, {.kind = lifeline_kind::given, .number = m.number, .objects = objects});
  }
  if (!own_.needy()) {  // it works on something
    missed_ = true;
    missed_until_ = host.now() + parameters_.settle;
  }
  lifeline_message next = m;
  next.hops = std::min(m.hops, parameters_.attempts);
  const rank_id to = random_other_rank(host);
  if (next.hops <= 1 || to == thief) return send(host, thief, {.kind = lifeline_kind::nothing, .number = m.number});
  --next.hops;
  send(host, to, next);
}

void lifeline_balancer::rejoice(balancer_host& host, std::uint32_t objects) {
  failures_ = 0;
  rests_ = false;
  promised_ += objects;
  ask_at_ = host.now() + parameters_.settle;
}

void lifeline_balancer::deal(balancer_host& host) {
  const auto served = line_.begin() + static_cast<std::ptrdiff_t>(own_.deal(host, line_, parameters_.objects_max));
  for (auto each = line_.begin(); each != served; ++each) {
    const auto objects = static_cast<std::uint32_t>(own_.dealt_to(static_cast<std::size_t>(each - line_.begin())));
    send(host, *each, {.kind = lifeline_kind::caught, .objects = objects});
  }
  line_.erase(line_.begin(), served);
}

std::unique_ptr<balancer> make_lifeline_balancer(const config& configuration) {
  return std::make_unique<lifeline_balancer>(lifeline_balancer::options{
      .attempts = static_cast<std::uint32_t>(configuration.get_int("balance.lifeline.attempts")),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.lifeline.objects_max")),
      .settle = seconds_of(configuration, "balance.lifeline.settle"),
  });
}

}  // namespace nacre::balance
