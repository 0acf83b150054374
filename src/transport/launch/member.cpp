// SPDX-License-Identifier: Apache-2.0
// The one rank that this process is, in a job that a launcher has started: how it joins, and its fabric.
#include "transport/launch/member.hpp"

#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "transport/launch/foreign_launcher.hpp"
#include "transport/net/descriptors.hpp"
#include "transport/net/interface.hpp"
#include "wire/binary_fingerprint.hpp"

namespace nacre::transport::launch {
namespace {

/// A rank that listens and knows the addresses of the others, before it is connected with any.
struct newcomer {
  rank_id rank;
  const job_secret& secret;
  const std::vector<std::string>& addresses;
  net::unique_fd listener;
  std::shared_ptr<control_line> line;
  net::time_point deadline;
};

arrival meet_others(newcomer who, const way_in& how) {
  peer_identity local;
  local.rank = who.rank;
  local.size = static_cast<std::uint32_t>(who.addresses.size());
  local.binary = binary_fingerprint();
  local.handlers = how.handlers;
  local.address = who.addresses[who.rank.value()] + (how.note.empty() ? "" : "/" + how.note);
  local.connections = static_cast<std::uint8_t>(how.connections);
  auto entrance = std::make_unique<net::door>(std::move(who.listener), who.secret, local,
                                              net::refusal_log(fmt::format("nacre: rank {}", who.rank.value())));
  const auto wanted = [&](const peer_identity& peer) {
    return !how.note.empty() && note_of(peer) == how.note ? 1 : how.connections;
  };
  auto guests = meet_all({.secret = who.secret,
                          .local = local,
                          .addresses = who.addresses,
                          .entrance = *entrance,
                          .line = who.line.get(),
                          .deadline = who.deadline,
                          .time_option = how.time_option,
                          .wanted = wanted});
  return {.self = std::move(local),
          .guests = std::move(guests),
          .entrance = std::move(entrance),
          .line = std::move(who.line),
          .deadline = who.deadline};
}

void allow_connections(std::size_t peers, const way_in& how) {
  net::allow_descriptors(peers * how.connections,
                         how.connections > 1 ? "make fewer with --nacre.tcp.sockets=1" : "start fewer ranks");
}

/// This process's place in its job, from either kind of launcher.
std::variant<std::unique_ptr<pmix_job>, job_ticket> own_place() {
  if (started_by_pmix()) return std::make_unique<pmix_job>();
  return take_job_ticket();
}

}  // namespace

std::vector<std::optional<net::guest>> arrival::take_first_guests() {
  std::vector<std::optional<net::guest>> result;
  for (guests_of_rank& each : guests) {
    result.push_back(each.empty() ? std::nullopt : std::optional(std::move(each.front())));
    each.clear();
  }
  return result;
}

std::string_view note_of(const peer_identity& peer) noexcept {
  const std::string_view text = peer.address;
  const std::size_t slash = text.find('/');
  return slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
}

arrival arrive(const job_ticket& ticket, const way_in& how) {
  allow_connections(ticket.size, how);
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  auto line = std::make_unique<control_line>(ticket, deadline);
  const auto where = [&] {
    if (how.on_loopback) return net::address::any_port_of_loopback();
    return how.interface.empty() ? line->own_address().at_any_port() : net::own_interface(how.interface);
  };
  net::unique_fd listener = net::listen_at(where());
  // The socket listens before the others learn its address, so an early call waits in its queue.
  const std::vector<std::string> addresses =
      line->exchange_addresses(net::address::of_own_end(listener.get()).text(), deadline, how.time_option);
  return meet_others({.rank = ticket.rank,
                      .secret = ticket.secret,
                      .addresses = addresses,
                      .listener = std::move(listener),
                      .line = std::move(line),
                      .deadline = deadline},
                     how);
}

arrival arrive(pmix_job& job, const way_in& how) {
  allow_connections(job.size(), how);
  const auto deadline = std::chrono::steady_clock::now() + how.connect_timeout;
  const bool one_host = job.ranks_on_host() == job.size() && how.interface.empty();
  net::unique_fd listener = net::listen_at(one_host || how.on_loopback ? net::address::any_port_of_loopback()
                                                                       : net::own_interface(how.interface));
  const pmix_job::introduction all = job.exchange(net::address::of_own_end(listener.get()).text(), deadline);
  return meet_others({.rank = job.rank(),
                      .secret = all.secret,
                      .addresses = all.addresses,
                      .listener = std::move(listener),
                      .line = nullptr,
                      .deadline = deadline},
                     how);
}

membership::membership() : by_(own_place()) {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&by_);
  rank_ = job != nullptr ? (*job)->rank() : std::get<job_ticket>(by_).rank;
}

std::uint32_t membership::size() const noexcept {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&by_);
  return job != nullptr ? (*job)->size() : std::get_if<job_ticket>(&by_)->size;
}

std::uint32_t membership::ranks_on_host() const noexcept {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&by_);
  return job != nullptr ? (*job)->ranks_on_host() : std::get_if<job_ticket>(&by_)->ranks_on_host;
}

arrival membership::arrive(const way_in& how) {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&by_);
  return job != nullptr ? launch::arrive(**job, how) : launch::arrive(std::get<job_ticket>(by_), how);
}

member_fabric::member_fabric(membership self, way_in how, end_maker make)
    : self_(std::move(self)), rank_(self_.rank()), how_(std::move(how)), make_(std::move(make)) {}

std::unique_ptr<endpoint> member_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == rank_, "the launcher has given this process another rank");
  return make_(self_.arrive(how_));
}

}  // namespace nacre::transport::launch
