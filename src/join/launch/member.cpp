// SPDX-License-Identifier: Apache-2.0
// The one rank that this process is, in a job that a launcher has started: how it joins.
#include "join/launch/member.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "join/launch/foreign_launcher.hpp"
#include "join/net/descriptors.hpp"
#include "join/net/interface.hpp"
#include "wire/binary_fingerprint.hpp"

namespace nacre::launch {
namespace {

/// A rank that listens and knows the addresses of the others, before it is connected with any.
struct joining_rank {
  rank_id rank;
  const job_secret& secret;
  const std::vector<std::string>& addresses;
  net::unique_fd listening_socket;
  std::shared_ptr<launcher_connection> launcher;
  net::time_point deadline;
};

joined_rank connect_peers(joining_rank joining, const join_options& options) {
  peer_identity local;
  local.rank = joining.rank;
  local.size = static_cast<std::uint32_t>(joining.addresses.size());
  local.binary = binary_fingerprint();
  local.handlers = options.handlers;
  local.address = joining.addresses[joining.rank.value()] + (options.note.empty() ? "" : "/" + options.note);
  local.connections = static_cast<std::uint8_t>(options.connections);
  auto listener =
      std::make_unique<net::listener>(std::move(joining.listening_socket), joining.secret, local,
                                      net::refusal_log(fmt::format("nacre: rank {}", joining.rank.value())));
  const auto wanted = [&](const peer_identity& peer) {
    return !options.note.empty() && note_of(peer) == options.note ? 1 : options.connections;
  };
  auto candidates = connect_all({.secret = joining.secret,
                                 .local = local,
                                 .addresses = joining.addresses,
                                 .listener = *listener,
                                 .launcher = joining.launcher.get(),
                                 .deadline = joining.deadline,
                                 .time_option = options.time_option,
                                 .wanted = wanted});
  return {.self = std::move(local),
          .secret = joining.secret,
          .candidates = std::move(candidates),
          .listener = std::move(listener),
          .launcher = std::move(joining.launcher),
          .deadline = joining.deadline};
}

void allow_connections(std::size_t peers, const join_options& options) {
  net::allow_descriptors(peers * options.connections,
                         options.connections > 1 ? "make fewer with --nacre.tcp.sockets=1" : "start fewer ranks");
}

/// This process's place in its job, from either kind of launcher.
std::variant<std::unique_ptr<pmix_job>, job_credentials> own_membership() {
  if (started_by_pmix()) return std::make_unique<pmix_job>();
  return take_job_credentials();
}

}  // namespace

std::vector<std::optional<net::peer_candidate>> joined_rank::take_first_candidates() {
  std::vector<std::optional<net::peer_candidate>> result;
  for (candidates_of_rank& each : candidates) {
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

joined_rank join(const job_credentials& credentials, const join_options& options) {
  allow_connections(credentials.size, options);
  const auto deadline = std::chrono::steady_clock::now() + options.connect_timeout;
  auto launcher = std::make_unique<launcher_connection>(credentials, deadline);
  const auto predicate = [&] {
    if (options.on_loopback) return net::address::any_port_of_loopback();
    return options.interface.empty() ? launcher->own_address().at_any_port() : net::own_interface(options.interface);
  };
  net::unique_fd listening_socket = net::listen_at(predicate());
  // The socket listens before the others learn its address, so an early call waits in its queue.
  const std::vector<std::string> addresses = launcher->exchange_addresses(
      net::address::of_own_end(listening_socket.get()).text(), deadline, options.time_option);
  return connect_peers({.rank = credentials.rank,
                        .secret = credentials.secret,
                        .addresses = addresses,
                        .listening_socket = std::move(listening_socket),
                        .launcher = std::move(launcher),
                        .deadline = deadline},
                       options);
}

joined_rank join(pmix_job& job, const join_options& options) {
  allow_connections(job.size(), options);
  const auto deadline = std::chrono::steady_clock::now() + options.connect_timeout;
  const bool one_host = job.ranks_on_host() == job.size() && options.interface.empty();
  net::unique_fd listening_socket = net::listen_at(
      one_host || options.on_loopback ? net::address::any_port_of_loopback() : net::own_interface(options.interface));
  const pmix_job::exchange_result all = job.exchange(net::address::of_own_end(listening_socket.get()).text(), deadline);
  return connect_peers({.rank = job.rank(),
                        .secret = all.secret,
                        .addresses = all.addresses,
                        .listening_socket = std::move(listening_socket),
                        .launcher = nullptr,
                        .deadline = deadline},
                       options);
}

membership::membership() : bootstrap_(own_membership()) {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&bootstrap_);
  rank_ = job != nullptr ? (*job)->rank() : std::get<job_credentials>(bootstrap_).rank;
}

std::uint32_t membership::size() const noexcept {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&bootstrap_);
  return job != nullptr ? (*job)->size() : std::get_if<job_credentials>(&bootstrap_)->size;
}

std::uint32_t membership::ranks_on_host() const noexcept {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&bootstrap_);
  return job != nullptr ? (*job)->ranks_on_host() : std::get_if<job_credentials>(&bootstrap_)->ranks_on_host;
}

std::uint32_t membership::count_ranks_sharing_cores(const join_options& options) {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&bootstrap_);
  if (job == nullptr) return ranks_on_host();  // nacre run binds ranks later
  return (*job)->count_ranks_sharing_cores(std::chrono::steady_clock::now() + options.connect_timeout);
}

std::optional<std::uint32_t> membership::place_on_host() const noexcept {
  const auto* const started = std::get_if<job_credentials>(&bootstrap_);
  return started != nullptr ? std::optional(started->place_on_host) : std::nullopt;
}

joined_rank membership::join(const join_options& options) {
  const auto* const job = std::get_if<std::unique_ptr<pmix_job>>(&bootstrap_);
  return job != nullptr ? launch::join(**job, options) : launch::join(std::get<job_credentials>(bootstrap_), options);
}

}  // namespace nacre::launch
