// SPDX-License-Identifier: Apache-2.0
// The transitions of thief and victim; states and invariants stand in the header.
#include "balance/balancer/lifeline_balancer.hpp"

#include <algorithm>
#include <bit>

#include <nacre/archive.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {
namespace {

enum class lifeline_kind : std::uint8_t { request, nothing, given, lifeline, caught };
[[nodiscard]] constexpr bool wire_valid(lifeline_kind kind) noexcept { return kind <= lifeline_kind::caught; }

struct lifeline_message {
  lifeline_kind kind = lifeline_kind::request;
  std::uint32_t number = 0;  // request, nothing, given: of the request

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number);
  }
};

void send(balancer_host& host, rank_id to, const lifeline_message& m) { host.send(to, pack(m)); }

[[nodiscard]] std::uint32_t edge_between(rank_id a, rank_id b) noexcept { return a.value() ^ b.value(); }

}  // namespace

void lifeline_balancer::on_tick(balancer_host& host) {
  deal(host);
  look_for_work(host);
}

void lifeline_balancer::look_for_work(balancer_host& host) {
  if (host.idle_workers() == 0) {
    failures_ = 0;
    return;
  }
  if (asking_ || host.size() < 2 || host.now() < ask_at_) return;
  own_.look(host);
  if (!own_.needy()) return;
  if (failures_ >= parameters_.attempts) return lay_lifelines(host);
  asking_ = true;
  victim_ = random_other_rank(host);
  send(host, victim_, {lifeline_kind::request, ++number_});
}

void lifeline_balancer::lay_lifelines(balancer_host& host) {
  for (std::uint32_t edge = 1; edge != 0 && edge < std::bit_ceil(host.size()); edge <<= 1) {
    const rank_id neighbour{host.rank().value() ^ edge};
    if (neighbour.value() >= host.size() || (laid_ & edge) != 0) continue;
    laid_ |= edge;
    send(host, neighbour, {lifeline_kind::lifeline, 0});
  }
}

void lifeline_balancer::on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) {
  const expected<lifeline_message, wire_error> m = unpack<lifeline_message>(bytes);
  if (!m || from == host.rank() || from.value() >= host.size()) return;
  const bool awaited = asking_ && from == victim_ && m->number == number_;
  const std::uint32_t edge = edge_between(host.rank(), from);
  switch (m->kind) {
    case lifeline_kind::request: {
      const bool gave = own_.deal(host, std::span(&from, 1), parameters_.objects_max) != 0;
      return send(host, from, {gave ? lifeline_kind::given : lifeline_kind::nothing, m->number});
    }
    case lifeline_kind::nothing:
      if (!awaited) return;
      asking_ = false;
      ++failures_;
      return look_for_work(host);
    case lifeline_kind::given:
      if (!awaited) return;
      asking_ = false;
      return rejoice(host);
    case lifeline_kind::lifeline:
      if (!std::has_single_bit(edge) || std::find(line_.begin(), line_.end(), from) != line_.end()) return;
      line_.push_back(from);
      return deal(host);
    case lifeline_kind::caught:
      if (!std::has_single_bit(edge) || (laid_ & edge) == 0) return;
      laid_ &= ~edge;
      return rejoice(host);
  }
}

void lifeline_balancer::rejoice(balancer_host& host) {
  failures_ = 0;
  ask_at_ = host.now() + parameters_.settle;
}

void lifeline_balancer::deal(balancer_host& host) {
  const auto served = line_.begin() + static_cast<std::ptrdiff_t>(own_.deal(host, line_, parameters_.objects_max));
  for (auto each = line_.begin(); each != served; ++each) send(host, *each, {lifeline_kind::caught, 0});
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
