// SPDX-License-Identifier: Apache-2.0
// The transitions of thief and victim; the header has the states and invariants.
#include "balance/balancer/lifeline_balancer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {

enum class lifeline_kind : std::uint8_t { request, nothing, given, lifeline, fulfilled, cancelled };
[[nodiscard]] constexpr bool wire_valid(lifeline_kind kind) noexcept { return kind <= lifeline_kind::cancelled; }

struct lifeline_message {
  lifeline_kind kind = lifeline_kind::request;
  std::uint32_t number = 0;   // request, nothing, given: of the request
  std::uint32_t thief = 0;    // request: the rank that began it
  std::uint32_t hops = 0;     // request: ranks that may still pass it on
  std::uint32_t objects = 0;  // given, fulfilled: how many

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, thief, hops, objects);
  }
};

namespace {

void send(balancer_host& host, rank_id target, const lifeline_message& m) { host.send(target, pack(m)); }

[[nodiscard]] std::uint32_t edge_between(rank_id a, rank_id b) noexcept { return a.value() ^ b.value(); }

}  // namespace

void lifeline_balancer::on_tick(balancer_host& host) {
  serve(host);
  look_for_work(host);
}

void lifeline_balancer::serve(balancer_host& host) {
  distribute(host);
  if (refused_) {
    surplus_.look(host);
    refused_ = surplus_.spare_at_most() == 0 && host.now() < refused_until_;
  }
}

void lifeline_balancer::withdraw(balancer_host& host) {
  if (std::exchange(asking_, false)) ++number_;  // a late answer is none
  rests_ = false;
  failures_ = 0;
  cancel_lifelines(host);
}

void lifeline_balancer::look_for_work(balancer_host& host) {
  rests_ = false;
  if (host.size() < 2) return;
  bool needy = host.idle_workers() != 0;
  if (needy) {
    surplus_.look(host);
    needy = surplus_.needy();
  }
  if (!needy) {
    failures_ = 0;
    if (registered_ != 0) cancel_lifelines(host);
    return;
  }
  if (asking_ || awaits_objects(host)) return;
  if (failures_ >= std::min(parameters_.attempts, 1u)) {
    rests_ = true;
    if (registered_ == 0) expect_none(host);
    return register_lifelines(host);
  }
  asking_ = true;
  expect_none(host);
  send(host, giver_ ? *giver_ : random_other_rank(host),
       {.kind = lifeline_kind::request,
        .number = ++number_,
        .thief = host.rank().value(),
        .hops = parameters_.attempts});
}

/// Remembers a giver of at least `a_bag` objects: it has a bag of them, and is asked first the next time. A giver of
/// parts of a tree has few.
void lifeline_balancer::note_giver(rank_id giver, std::uint32_t objects) {
  constexpr std::uint32_t a_bag = 16;
  if (objects >= a_bag) giver_ = giver;
}

/// Whether promised objects are still in flight. Objects may arrive before their promise. An object that has not
/// arrived by ask_at_ will not come: it has ended, or has gone elsewhere.
bool lifeline_balancer::awaits_objects(balancer_host& host) {
  if (host.arrivals() >= promised_) return false;
  if (host.now() < ask_at_) return true;
  expect_none(host);
  return false;
}

/// Nothing is promised now. Objects that have come without a promise, moved by the program or by a plan, do not count
/// for the next one.
void lifeline_balancer::expect_none(balancer_host& host) { promised_ = host.arrivals(); }

void lifeline_balancer::register_lifelines(balancer_host& host) {
  for (std::uint32_t edge = 1; edge != 0 && edge < std::bit_ceil(host.size()); edge <<= 1) {
    const rank_id neighbour{host.rank().value() ^ edge};
    if (neighbour.value() >= host.size() || (registered_ & edge) != 0) continue;
    registered_ |= edge;
    send(host, neighbour, {.kind = lifeline_kind::lifeline});
  }
}

void lifeline_balancer::cancel_lifelines(balancer_host& host) {
  for (; registered_ != 0; registered_ &= registered_ - 1) {
    const std::uint32_t edge = registered_ & -registered_;
    send(host, rank_id{host.rank().value() ^ edge}, {.kind = lifeline_kind::cancelled});
  }
}

void lifeline_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<lifeline_message, wire_error> m = unpack<lifeline_message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  const bool awaited = asking_ && m->number == number_;
  const std::uint32_t edge = edge_between(host.rank(), source);
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
      note_giver(source, m->objects);
      return expect_objects(host, m->objects);
    case lifeline_kind::lifeline:
      if (!std::has_single_bit(edge) || std::find(line_.begin(), line_.end(), source) != line_.end()) return;
      line_.push_back(source);
      return distribute(host);
    case lifeline_kind::cancelled:
      std::erase(line_, source);
      return;
    case lifeline_kind::fulfilled:
      if (!std::has_single_bit(edge) || (registered_ & edge) == 0) return;
      registered_ &= ~edge;
      note_giver(source, m->objects);
      return expect_objects(host, m->objects);
  }
}

/// A rank without surplus passes the request on, instead of answering the thief, which saves a message.
void lifeline_balancer::on_request(balancer_host& host, const lifeline_message& m) {
  const rank_id thief{m.thief};
  if (thief.value() >= host.size() || thief == host.rank()) return;
  if (surplus_.distribute(host, std::span(&thief, 1), parameters_.objects_max) != 0) {
    const auto objects = static_cast<std::uint32_t>(surplus_.given_to(0));
    return send(host, thief, {.kind = lifeline_kind::given, .number = m.number, .objects = objects});
  }
  if (!surplus_.needy()) {  // it works on something
    refused_ = true;
    refused_until_ = host.now() + parameters_.arrival_timeout;
  }
  lifeline_message next = m;
  next.hops = std::min(m.hops, parameters_.attempts);
  const rank_id target = random_other_rank(host);
  if (next.hops <= 1 || target == thief) return send(host, thief, {.kind = lifeline_kind::nothing, .number = m.number});
  --next.hops;
  send(host, target, next);
}

void lifeline_balancer::expect_objects(balancer_host& host, std::uint32_t objects) {
  failures_ = 0;
  rests_ = false;
  promised_ += objects;
  ask_at_ = host.now() + parameters_.arrival_timeout;
}

void lifeline_balancer::distribute(balancer_host& host) {
  const auto served =
      line_.begin() + static_cast<std::ptrdiff_t>(surplus_.distribute(host, line_, parameters_.objects_max));
  for (auto each = line_.begin(); each != served; ++each) {
    const auto objects = static_cast<std::uint32_t>(surplus_.given_to(static_cast<std::size_t>(each - line_.begin())));
    send(host, *each, {.kind = lifeline_kind::fulfilled, .objects = objects});
  }
  line_.erase(line_.begin(), served);
}

lifeline_balancer::options lifeline_options(const config& configuration) {
  return {
      .attempts = static_cast<std::uint32_t>(configuration.get_int("balance.lifeline.attempts")),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.lifeline.objects_max")),
      .arrival_timeout = seconds_of(configuration, "balance.lifeline.arrival_timeout"),
  };
}

std::unique_ptr<balancer> make_lifeline_balancer(const config& configuration) {
  return std::make_unique<lifeline_balancer>(lifeline_options(configuration));
}

}  // namespace nacre::balance
