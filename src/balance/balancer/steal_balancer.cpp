// SPDX-License-Identifier: Apache-2.0
// The transitions of thief and victim; the header has the states and invariants.
#include "balance/balancer/steal_balancer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/random_rank.hpp"

namespace nacre::balance {
namespace {

enum class steal_kind : std::uint8_t { request, nothing, given };
[[nodiscard]] constexpr bool wire_valid(steal_kind kind) noexcept { return kind <= steal_kind::given; }

struct steal_message {
  steal_kind kind = steal_kind::request;
  std::uint32_t number = 0;  // of the request, in every kind
  double patience = 0;       // request: seconds that the thief would wait after a refusal

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, patience);
  }
};

void send(balancer_host& host, rank_id target, const steal_message& m) { host.send(target, pack(m)); }

}  // namespace

steal_balancer::steal_balancer(const options& parameters)
    : parameters_(parameters), retry_interval_(parameters.retry_interval) {}

void steal_balancer::on_tick(balancer_host& host) {
  if (!line_.empty()) {
    distribute(host);
    send_off_expired(host);
  }
  look_for_work(host);
}

void steal_balancer::look_for_work(balancer_host& host) {
  if (host.idle_workers() == 0) {
    retry_interval_.succeed();
    rest_ = 0;
    in_vain_ = 0;
    ask_at_ = asked_at_ + retry_interval_.min();
    return;
  }
  if (asking_ || host.size() < 2 || host.now() < ask_at_) return;
  surplus_.look(host);
  if (surplus_.needy()) ask(host);
}

rank_id steal_balancer::choose_victim(balancer_host& host, std::uint32_t) { return random_other_rank(host); }

void steal_balancer::ask(balancer_host& host) {
  victim_ = choose_victim(host, in_vain_);
  asking_ = true;
  asked_at_ = host.now();
  send(host, victim_, {.kind = steal_kind::request, .number = ++number_, .patience = rest_});
}

void steal_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<steal_message, wire_error> m = unpack<steal_message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  if (m->kind == steal_kind::request) {
    const double patience = m->patience > 0 ? std::min(m->patience, retry_interval_.max()) : 0;  // NaN counts as 0
    const double hold = host.idle_workers() == 0 ? parameters_.hold : 0;
    on_request(host, {source, m->number, host.now() + std::max(patience, hold), goes_first(host, source)});
    return;
  }
  if (!asking_ || source != victim_ || m->number != number_) return;
  asking_ = false;
  if (m->kind == steal_kind::given) {
    retry_interval_.succeed();
    rest_ = 0;
    in_vain_ = 0;
    ask_at_ = std::max(asked_at_ + retry_interval_.min(), host.now() + parameters_.arrival_timeout);
  } else {
    ++in_vain_;
    rest_ = retry_interval_.fail(host.rng());
    ask_at_ = asked_at_ + rest_;
  }
}

void steal_balancer::on_request(balancer_host& host, thief source) {
  const auto same =
      std::find_if(line_.begin(), line_.end(), [&](const thief& each) { return each.rank == source.rank; });
  if (same != line_.end()) {
    *same = source;
  } else if (line_.size() < parameters_.waiting_max) {
    const auto next = source.first
                          ? std::find_if(line_.begin(), line_.end(), [](const thief& each) { return !each.first; })
                          : line_.end();
    line_.insert(next, source);
  } else {
    send(host, source.rank, {.kind = steal_kind::nothing, .number = source.number});
    return;
  }
  distribute(host);
  send_off_expired(host);
}

/// Distributes the surplus to the line and answers each thief that gets objects.
void steal_balancer::distribute(balancer_host& host) {
  ranks_.clear();
  for (const thief& each : line_) ranks_.push_back(each.rank);
  const auto served =
      line_.begin() + static_cast<std::ptrdiff_t>(surplus_.distribute(host, ranks_, parameters_.objects_max));
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

steal_balancer::options steal_options(const config& configuration) {
  return {
      .retry_interval = read_backoff(configuration, "balance.steal.backoff", "balance.steal.backoff_max"),
      .hold = seconds_of(configuration, "balance.steal.hold"),
      .arrival_timeout = seconds_of(configuration, "balance.steal.arrival_timeout"),
      .waiting_max = static_cast<std::uint32_t>(configuration.get_int("balance.steal.waiting_max")),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.steal.objects_max")),
  };
}

std::unique_ptr<balancer> make_steal_balancer(const config& configuration) {
  return std::make_unique<steal_balancer>(steal_options(configuration));
}

}  // namespace nacre::balance
