// SPDX-License-Identifier: Apache-2.0
// The transitions of master and workers; the header has the states and invariants.
#include "balance/balancer/master_worker_balancer.hpp"

#include <algorithm>

#include <nacre/archive.hpp>

#include "balance/balancer/backoff.hpp"

namespace nacre::balance {
namespace {

enum class work_kind : std::uint8_t { request, given };
[[nodiscard]] constexpr bool wire_valid(work_kind kind) noexcept { return kind <= work_kind::given; }

struct work_message {
  work_kind kind = work_kind::request;
  std::uint32_t number = 0;  // of the request

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number);
  }
};

}  // namespace

rank_id master_worker_balancer::master(const balancer_host& host) const noexcept {
  return rank_id{std::min(parameters_.master, host.size() - 1)};
}

bool master_worker_balancer::underloaded(balancer_host& host) {
  if (host.idle_workers() == 0 && parameters_.low_load <= 0) return false;
  surplus_.look(host);
  return surplus_.needy() || (parameters_.low_load > 0 && sane(host.total_load()) < parameters_.low_load);
}

void master_worker_balancer::on_tick(balancer_host& host) {
  if (host.rank() == master(host)) return distribute(host);
  if (waiting_ || host.now() < ask_at_ || !underloaded(host)) return;
  waiting_ = true;
  host.send(master(host), pack(work_message{work_kind::request, ++number_}));
}

void master_worker_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  const expected<work_message, wire_error> m = unpack<work_message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  if (m->kind == work_kind::given) {
    if (!waiting_ || source != master(host) || m->number != number_) return;
    waiting_ = false;
    ask_at_ = host.now() + parameters_.arrival_timeout;
  } else if (host.rank() == master(host)) {
    const auto same = std::find(line_.begin(), line_.end(), source);
    if (same != line_.end()) {
      numbers_[static_cast<std::size_t>(same - line_.begin())] = m->number;
      return;
    }
    line_.push_back(source);
    numbers_.push_back(m->number);
    distribute(host);
  }
}

void master_worker_balancer::distribute(balancer_host& host) {
  if (line_.empty()) return;
  surplus_.look(host);
  const std::size_t each_gets = surplus_.at_a_time(host, parameters_.objects_max);
  const auto served = static_cast<std::ptrdiff_t>(surplus_.distribute(host, line_, each_gets));
  for (std::ptrdiff_t each = 0; each < served; ++each) {
    const auto index = static_cast<std::size_t>(each);
    host.send(line_[index], pack(work_message{work_kind::given, numbers_[index]}));
  }
  line_.erase(line_.begin(), line_.begin() + served);
  numbers_.erase(numbers_.begin(), numbers_.begin() + served);
}

std::unique_ptr<balancer> make_master_worker_balancer(const config& configuration) {
  return std::make_unique<master_worker_balancer>(master_worker_balancer::options{
      .master = static_cast<std::uint32_t>(configuration.get_int("balance.master_worker.master")),
      .low_load = configuration.get_double("balance.master_worker.low_load"),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.master_worker.objects_max")),
      .arrival_timeout = seconds_of(configuration, "balance.master_worker.arrival_timeout"),
  });
}

}  // namespace nacre::balance
