// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of ports and wires.
#include "machine/network.hpp"

#include <algorithm>
#include <cmath>

#include <nacre/assert.hpp>

namespace nacre::machine {

namespace {

constexpr std::int64_t ps_per_ns = 1000;
constexpr std::int64_t now_ns_max = std::int64_t{100} * 24 * 3600 * 1'000'000'000;  // leaves room in 64 bits of ps

[[nodiscard]] std::int64_t to_ns(std::int64_t ps) noexcept { return (ps + ps_per_ns - 1) / ps_per_ns; }

/// (k - 1) G: the time that the bytes after the first one take to pass a port.
[[nodiscard]] std::int64_t passage_ps(const link_model& model, std::uint64_t bytes) noexcept {
  if (model.bytes_per_second <= 0) return 0;
  return static_cast<std::int64_t>(std::llround(static_cast<double>(bytes - 1) * (1e12 / model.bytes_per_second)));
}

[[nodiscard]] std::uint64_t stream_of(const transfer& sent) noexcept {
  return (static_cast<std::uint64_t>(sent.from.value()) << 32) | (static_cast<std::uint64_t>(sent.to.value()) << 8) |
         static_cast<std::uint64_t>(sent.on_channel);
}

void check_link(const link_model& model) {
  const bool forward = model.latency.count() >= 0 && model.send_overhead.count() >= 0 &&
                       model.receive_overhead.count() >= 0 && model.gap.count() >= 0;
  NACRE_EXPECT(forward && model.jitter >= 0, "a cost cannot be negative");
  NACRE_EXPECT(model.bytes_per_second == 0 || model.bytes_per_second >= 1e6,
               "a port passes at least a megabyte a second");
}

}  // namespace

network::network(const network_options& options, std::uint32_t ranks, rng chance)
    : options_(options),
      free_of_charge_{
          .latency = {}, .send_overhead = {}, .receive_overhead = {}, .gap = {}, .bytes_per_second = 0, .jitter = 0},
      ranks_(ranks),
      chance_(chance) {
  NACRE_EXPECT(ranks >= 1 && ranks <= object_id::home_max + 1, "a machine has 1 to 2^24 ranks");
  NACRE_EXPECT(options.ranks_per_host >= 1, "a host has at least one rank");
  NACRE_EXPECT(options.late_probability >= 0 && options.late_probability <= 1, "a probability is 0 to 1");
  NACRE_EXPECT(options.late_factor >= 1, "a late message is never early");
  NACRE_EXPECT(options.hop_latency.count() >= 0 && options.poll.count() >= 0, "a cost cannot be negative");
  check_link(options.remote);
  check_link(options.local);
  const std::uint32_t hosts = (ranks - 1) / options.ranks_per_host + 1;
  wiring_ = make_topology(options.wiring, hosts);
  for (direction* side : {&out_, &in_}) {
    side->hosts.resize(hosts);
    if (options.ranks_per_host > 1) side->ranks.resize(ranks);
  }
}

departure network::depart(const transfer& sent, std::chrono::nanoseconds now) {
  NACRE_EXPECT(now.count() >= 0 && now.count() <= now_ns_max, "messages travel in the first 100 days of virtual time");
  NACRE_EXPECT(sent.bytes >= 1 && sent.from.value() < ranks_ && sent.to.value() < ranks_, "no such transfer");
  if (sent.from == sent.to) return {.head_arrives = now, .tail_leaves = now};
  const link_model& model = link(sent.from, sent.to);
  port& out = port_of(out_, sent, sent.from);
  const std::int64_t start_ps = std::max(now.count() * ps_per_ns, out.free_ps);
  const std::int64_t left_ps = start_ps + passage_ps(model, sent.bytes);
  out.free_ps = left_ps + model.gap.count() * ps_per_ns;

  departure result;
  const std::int64_t head_ns = to_ns(start_ps) + flight_ns(sent, model, result.late);
  result.head_arrives = std::chrono::nanoseconds(sent.overtakes ? std::max(head_ns, present_ns_)
                                                                : order_.next(stream_of(sent), head_ns, present_ns_));
  result.tail_leaves = std::chrono::nanoseconds(to_ns(left_ps));
  return result;
}

std::chrono::nanoseconds network::arrive(const transfer& received, std::chrono::nanoseconds now) {
  NACRE_EXPECT(now.count() >= present_ns_, "messages arrive in the order of time");
  NACRE_EXPECT(received.from != received.to, "a message to the own rank passes no port");
  present_ns_ = now.count();
  const link_model& model = link(received.from, received.to);
  port& in = port_of(in_, received, received.to);
  const std::int64_t start_ps = std::max(now.count() * ps_per_ns, in.free_ps);
  const std::int64_t complete_ps = start_ps + passage_ps(model, received.bytes);
  in.free_ps = complete_ps + model.gap.count() * ps_per_ns;
  in.complete_ns = std::max(to_ns(complete_ps), in.complete_ns + 1);
  return std::chrono::nanoseconds(in.complete_ns);
}

bool network::admits(const transfer& received, std::chrono::nanoseconds now) noexcept {
  const double speed = options_.remote.bytes_per_second;
  if (options_.switch_buffer == 0 || speed <= 0 || host_of(received.from) == host_of(received.to)) return true;
  const std::int64_t waits_ps = port_of(in_, received, received.to).free_ps - now.count() * ps_per_ns;
  return static_cast<double>(waits_ps) * 1e-12 * speed <= static_cast<double>(options_.switch_buffer);
}

std::chrono::nanoseconds network::latency_min() const noexcept {
  if (options_.ranks_per_host == 1) return options_.remote.latency;
  return std::min(options_.remote.latency, options_.local.latency);
}

network::port& network::port_of(direction& side, const transfer& passed, rank_id end) noexcept {
  const std::uint32_t host = host_of(end);
  return host == host_of(end == passed.from ? passed.to : passed.from) ? side.ranks[end.value()] : side.hosts[host];
}

/// Returns the time of the first byte on the wires, with this message's jitter and fault.
std::int64_t network::flight_ns(const transfer& sent, const link_model& model, bool& late) {
  const std::uint32_t hops = wiring_->hops(host_of(sent.from), host_of(sent.to));
  std::int64_t latency_ns = model.latency.count();
  if (hops > 1) latency_ns += static_cast<std::int64_t>(hops - 1) * options_.hop_latency.count();
  if (model.jitter > 0) {
    latency_ns += static_cast<std::int64_t>(static_cast<double>(latency_ns) * (model.jitter * chance_.uniform()));
  }
  late = options_.late_probability > 0 && chance_.uniform() < options_.late_probability;
  return late ? static_cast<std::int64_t>(static_cast<double>(latency_ns) * options_.late_factor) : latency_ns;
}

}  // namespace nacre::machine
