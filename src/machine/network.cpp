// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of ports and wires.
#include "machine/network.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

namespace nacre::machine {

namespace {

constexpr std::int64_t ps_per_ns = 1000;

[[nodiscard]] std::int64_t to_ns(std::int64_t ps) noexcept { return (ps + ps_per_ns - 1) / ps_per_ns; }

/// (k - 1) G: the time that the bytes after the first one take to pass a port.
[[nodiscard]] std::int64_t passage_ps(const link_model& model, std::uint64_t bytes) noexcept {
  if (model.bytes_per_second <= 0) return 0;
  return static_cast<std::int64_t>(std::llround(static_cast<double>(bytes - 1) * (1e12 / model.bytes_per_second)));
}

[[nodiscard]] std::uint64_t stream_of(const transfer& sent) noexcept {
  return (static_cast<std::uint64_t>(sent.source.value()) << 32) |
         (static_cast<std::uint64_t>(sent.target.value()) << 8) | static_cast<std::uint64_t>(sent.on_channel);
}

void check_link(const link_model& model) {
  const bool forward = model.latency.count() >= 0 && model.send_overhead.count() >= 0 &&
                       model.receive_overhead.count() >= 0 && model.gap.count() >= 0;
  NACRE_EXPECT(forward && model.jitter >= 0, "a cost cannot be negative");
  NACRE_EXPECT(model.bytes_per_second == 0 || model.bytes_per_second >= 1e6,
               "a port passes at least a megabyte a second");
}

void expect_links(bool holds, const std::string& problem, const std::string& remedy) {
  if (!holds) throw setup_error({"simulated network: " + problem, "it cannot be simulated", remedy});
}

/// The nodes and links that the options describe.
[[nodiscard]] emulated_machine machine_of(const network_options& options, std::uint32_t hosts) {
  const topology_kind kind = options.wiring.kind;
  expect_links(kind != topology_kind::flat, "a flat wiring has neither links nor places of nodes",
               "choose another sim.topology, or leave out sim.contention and sim.missing");
  const bool grid = kind == topology_kind::mesh || kind == topology_kind::torus;
  std::vector<std::uint32_t> extents = options.wiring.shape;
  expect_links(options.missing.empty() || !extents.empty(), "missing nodes of a wiring without a shape",
               "give sim.shape, or a sim.machine");
  if (extents.empty()) extents = grid ? near_cube(hosts) : std::vector{hosts};
  expect_links(extents.size() <= 3, "more than three extents", "use up to three with sim.contention or sim.missing");
  extents.resize(3, 1);
  constexpr std::uint64_t extent_max = 1u << 20, nodes_max = std::uint64_t{1} << 31;  // coordinates are 32 bits
  std::uint64_t nodes = 1;
  for (const std::uint32_t extent : extents)
    nodes = std::min(nodes_max, nodes) * std::min<std::uint64_t>(extent, nodes_max);
  const bool countable = nodes <= nodes_max && *std::max_element(extents.begin(), extents.end()) <= extent_max;
  expect_links(!grid || countable, "a grid with an extent above 2^20, or of more than 2^31 nodes",
               "give sim.shape smaller extents");
  expect_links(!options.contention || options.remote.latency >= options.hop_latency,
               "sim.latency is shorter than sim.hop_latency, the time of each link", "make it as long at least");
  expect_links(!options.contention || options.hop_latency.count() > 0, "contention with a hop latency of 0",
               "set sim.hop_latency (in a machine file: hop) to 1ns or more");
  const double speed =
      options.link_bytes_per_second > 0 ? options.link_bytes_per_second : options.remote.bytes_per_second;
  expect_links(!options.contention || speed > 0,
               "contention without a bandwidth: a message would occupy a link for no time",
               "set sim.bandwidth (in a machine file: bandwidth)");
  emulated_machine result{
      .grid = {extents[0], extents[1], extents[2]}, .hop = options.hop_latency, .turn = options.turn};
  result.turns = turn_rule::counted;
  result.switch_ports = options.wiring.switch_ports;
  result.missing = options.missing;
  result.topology = kind == topology_kind::mesh       ? emulated_topology::mesh
                    : kind == topology_kind::torus    ? emulated_topology::torus
                    : kind == topology_kind::fat_tree ? emulated_topology::fat_tree
                                                      : emulated_topology::dragonfly;
  return result;
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
  if (options.contention || !options.missing.empty() || options.turn.count() != 0) {
    links_ = std::make_unique<host_links>(machine_of(options, hosts), hosts);
  }
  if (options.port_buffer != 0) bookings_.resize(ranks);
  for (direction* side : {&out_, &in_}) {
    side->hosts.resize(hosts);
    if (options.ranks_per_host > 1) side->ranks.resize(ranks);
  }
}

departure network::depart(const transfer& sent, std::chrono::nanoseconds now) {
  NACRE_EXPECT(now.count() >= 0 && now <= latest, "messages travel in the first 100 days of virtual time");
  NACRE_EXPECT(sent.bytes >= 1 && sent.source.value() < ranks_ && sent.target.value() < ranks_, "no such transfer");
  if (sent.source == sent.target) return {.head_arrives = now, .tail_leaves = now};
  const link_model& model = link(sent.source, sent.target);
  port& out = port_of(out_, sent, sent.source);
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
  NACRE_EXPECT(received.source != received.target, "a message to the own rank passes no port");
  present_ns_ = now.count();
  const link_model& model = link(received.source, received.target);
  port& in = port_of(in_, received, received.target);
  const std::int64_t start_ps = std::max(now.count() * ps_per_ns, in.free_ps);
  const std::int64_t complete_ps = start_ps + passage_ps(model, received.bytes);
  in.free_ps = complete_ps + model.gap.count() * ps_per_ns;
  in.complete_ns = std::max(to_ns(complete_ps), in.complete_ns + 1);
  return std::chrono::nanoseconds(in.complete_ns);
}

bool network::admits(const transfer& received, std::chrono::nanoseconds now) noexcept {
  const double speed = options_.remote.bytes_per_second;
  if (options_.switch_buffer == 0 || speed <= 0 || host_of(received.source) == host_of(received.target)) return true;
  const std::int64_t waits_ps = port_of(in_, received, received.target).free_ps - now.count() * ps_per_ns;
  return static_cast<double>(waits_ps) * 1e-12 * speed <= static_cast<double>(options_.switch_buffer);
}

std::chrono::nanoseconds network::latency_min() const noexcept {
  if (options_.ranks_per_host == 1) return options_.remote.latency;
  return std::min(options_.remote.latency, options_.local.latency);
}

network::port& network::port_of(direction& side, const transfer& passed, rank_id end) noexcept {
  const std::uint32_t host = host_of(end);
  return host == host_of(end == passed.source ? passed.target : passed.source) ? side.ranks[end.value()]
                                                                               : side.hosts[host];
}

std::chrono::nanoseconds network::wait_for_port(rank_id source, rank_id target, std::chrono::nanoseconds now) const {
  if (!bounds_port(source, target)) return std::chrono::nanoseconds(0);
  const booking& own = bookings_[source.value()];
  const std::int64_t now_ps = now.count() * ps_per_ns;
  const std::int64_t free_ps = out_.hosts[host_of(source)].free_ps;
  // A worker of the rank that is not as far yet waits for what has left.
  const std::int64_t waits_ps = (now_ps < own.begin_ps ? free_ps : std::max(free_ps, own.end_ps)) - now_ps;
  const auto room_ps =
      static_cast<std::int64_t>(static_cast<double>(options_.port_buffer) * 1e12 / options_.remote.bytes_per_second);
  return std::chrono::nanoseconds(waits_ps > room_ps ? to_ns(waits_ps - room_ps) : 0);
}

void network::book_port(rank_id source, rank_id target, std::uint64_t bytes, std::chrono::nanoseconds now) {
  if (!bounds_port(source, target)) return;
  booking& own = bookings_[source.value()];
  const std::int64_t now_ps = now.count() * ps_per_ns;
  if (now_ps < own.begin_ps) return;
  if (now_ps >= own.end_ps) own = {.begin_ps = now_ps, .end_ps = now_ps};
  own.end_ps = std::max(own.end_ps, out_.hosts[host_of(source)].free_ps) + passage_ps(options_.remote, bytes) +
               options_.remote.gap.count() * ps_per_ns;
}

network::crossing network::cross(const transfer& sent, message_way& way, std::chrono::nanoseconds now) {
  link_model model = options_.remote;
  if (options_.link_bytes_per_second > 0) model.bytes_per_second = options_.link_bytes_per_second;
  const host_links::crossing passed =
      links_->cross({host_of(sent.source), host_of(sent.target)}, way, now.count(), passage_ps(model, sent.bytes));
  return {.waited = std::chrono::nanoseconds(passed.begins_ns) - now,
          .head = std::chrono::nanoseconds(passed.head_ns),
          .is_last = passed.is_last};
}

std::uint32_t network::hops(const transfer& sent, std::int64_t& turns_ns) const {
  const std::uint32_t source = host_of(sent.source), target = host_of(sent.target);
  if (links_ == nullptr) return wiring_->hops(source, target);
  const route way = links_->route_of(source, target);
  const bool grid = options_.wiring.kind == topology_kind::mesh || options_.wiring.kind == topology_kind::torus;
  if (grid) turns_ns = way.turns * options_.turn.count();
  return way.hops;
}

/// Returns the time of the first byte on the wires, with this message's jitter and fault; with contention, without that
/// of the links.
std::int64_t network::flight_ns(const transfer& sent, const link_model& model, bool& late) {
  std::int64_t turns_ns = 0;
  const std::uint32_t length = hops(sent, turns_ns);
  std::int64_t latency_ns = model.latency.count() + turns_ns;
  if (length > 1) latency_ns += static_cast<std::int64_t>(length - 1) * options_.hop_latency.count();
  const std::int64_t on_links_ns = has_links(sent.source, sent.target)
                                       ? turns_ns + static_cast<std::int64_t>(length) * options_.hop_latency.count()
                                       : 0;
  if (model.jitter > 0) {
    latency_ns += static_cast<std::int64_t>(static_cast<double>(latency_ns) * (model.jitter * chance_.uniform()));
  }
  late = options_.late_probability > 0 && chance_.uniform() < options_.late_probability;
  if (late) latency_ns = static_cast<std::int64_t>(static_cast<double>(latency_ns) * options_.late_factor);
  return latency_ns - on_links_ns;
}

}  // namespace nacre::machine
