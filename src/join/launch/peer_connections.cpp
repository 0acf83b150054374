// SPDX-License-Identifier: Apache-2.0
// Opens the connections of one rank to all of its peers.
#include "join/launch/peer_connections.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "join/launch/failure.hpp"
#include "join/net/call_pauses.hpp"
#include "join/net/wait.hpp"

namespace nacre::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds first_pause{20};
constexpr milliseconds poll_interval{100};  // for the deadlines of handshakes

/// One peer that this rank calls, until all connections with it stand.
struct call {
  rank_id peer;
  net::address address;
  net::call_pauses pauses;
  std::optional<net::socket_handshake> under_way = std::nullopt;
  net::time_point next_try{};
  std::string last_trouble = "it did not answer";
};

bool is_final(const refusal& refusal) noexcept {
  return refusal.reason != refusal_reason::closed && refusal.reason != refusal_reason::timed_out &&
         refusal.reason != refusal_reason::unreachable;
}

class connector {
 public:
  explicit connector(const bootstrap& parts)
      : parts_(parts), candidates_(parts.addresses.size()), missing_(parts.addresses.size() - 1) {
    for (std::uint32_t peer = 0; peer < own().value(); ++peer) {
      const auto address = net::address::parse(parts.addresses[peer]);
      if (!address)
        throw setup_error(fmt::format("rank {} listens at '{}', which is no address", peer, parts.addresses[peer]));
      calls_.push_back({.peer = rank_id(peer),
                        .address = *address,
                        .pauses = net::call_pauses(first_pause, std::uint64_t{own().value()} << 32 | peer)});
    }
  }

  std::vector<candidates_of_rank> run() {
    for (;;) {
      const auto now = steady_clock::now();
      poll_launcher();
      advance_calls(now);
      poll_listener(now);
      if (missing_ == 0) return std::move(candidates_);
      if (now >= parts_.deadline) give_up();
      wait(now);
    }
  }

 private:
  [[nodiscard]] rank_id own() const noexcept { return parts_.local.rank; }

  [[nodiscard]] std::size_t wanted_of(const peer_identity& peer) const {
    return parts_.wanted ? parts_.wanted(peer) : parts_.local.connections;
  }

  [[nodiscard]] bool complete(rank_id peer) const {
    const candidates_of_rank& rank = candidates_[peer.value()];
    return !rank.empty() && rank.size() == wanted_of(rank.front().identity);
  }

  /// Keeps a connection. True when it was the last one of its peer.
  bool add_candidate(net::peer_candidate&& candidate) {
    const rank_id peer = candidate.identity.rank;
    candidates_[peer.value()].push_back(std::move(candidate));
    if (!complete(peer)) return false;
    --missing_;
    return true;
  }

  void poll_launcher() {
    if (parts_.launcher == nullptr) return;
    if (const auto aborted = parts_.launcher->poll()) throw job_aborted(aborted_text(*aborted));
  }

  void advance_calls(net::time_point now) {
    for (auto each = calls_.begin(); each != calls_.end();) {
      each = advance(*each, now) ? calls_.erase(each) : std::next(each);
    }
  }

  /// True when all connections with the peer stand.
  bool advance(call& call, net::time_point now) {
    if (!call.under_way) {
      if (now < call.next_try) return false;
      net::unique_fd socket = net::start_connect(call.address);
      if (!socket) {
        postpone(call, net::error_text(errno), now);
        return false;
      }
      peer_identity local = parts_.local;
      local.connection = static_cast<std::uint8_t>(candidates_[call.peer.value()].size());
      call.under_way.emplace(net::socket_handshake::of_caller(
          std::move(socket), call.address,
          handshake(handshake_role::initiator, parts_.secret, std::move(local), call.peer),
          parts_.deadline));  // not sooner: the peer may have accepted already, with its answer still on its way
    }
    switch (call.under_way->advance(now)) {
      case net::socket_handshake::outcome::pending:
        return false;
      case net::socket_handshake::outcome::accepted:
        return take_answer(call);
      case net::socket_handshake::outcome::refused:
        break;
    }
    const refusal& refusal = call.under_way->why();
    if (is_final(refusal)) refuse(call, refusal);
    postpone(call, refusal.explanation, now);
    return false;
  }

  bool take_answer(call& call) {
    net::peer_candidate answered = call.under_way->take();
    call.under_way.reset();
    call.next_try = {};
    const candidates_of_rank& rank = candidates_[call.peer.value()];
    if (!rank.empty() && !rank.front().identity.same_peer(answered.identity)) {
      refuse(call, {.reason = refusal_reason::bad_rank, .explanation = other_identity(call.peer, rank.size())});
    }
    return add_candidate(std::move(answered));
  }

  [[nodiscard]] static std::string other_identity(rank_id peer, std::size_t connection) {
    return fmt::format("its connection {} gives another identity of rank {} than its first one", connection,
                       peer.value());
  }

  [[noreturn]] void refuse(const call& call, const refusal& refusal) const {
    throw setup_error({.problem = fmt::format("rank {} and rank {} do not fit together: {}", own().value(),
                                              call.peer.value(), refusal.log_line(parts_.addresses[call.peer.value()])),
                       .why = "all ranks of a job run one binary and share one secret",
                       .remedy = "start them all with one nacre run"});
  }

  void postpone(call& call, std::string trouble, net::time_point now) {
    call.under_way.reset();
    call.last_trouble = std::move(trouble);
    call.next_try = now + call.pauses.next();
  }

  void poll_listener(net::time_point now) {
    std::vector<net::peer_candidate> candidates;
    parts_.listener.poll(now, candidates);
    for (net::peer_candidate& candidate : candidates) {
      const std::string objection = objection_to(candidate.identity);
      if (objection.empty()) {
        add_candidate(std::move(candidate));
      } else {
        parts_.listener.refuse(candidate, objection, now);
      }
    }
  }

  /// The reason to refuse a proven member that has called; empty: it is admitted.
  [[nodiscard]] std::string objection_to(const peer_identity& candidate) const {
    const std::uint32_t peer = candidate.rank.value();
    if (candidate.rank < own()) return fmt::format("nobody waits for a call of rank {}", peer);
    const candidates_of_rank& rank = candidates_[peer];
    if (!rank.empty() && !rank.front().identity.same_peer(candidate))
      return other_identity(candidate.rank, candidate.connection);
    if (candidate.connection == rank.size() && !complete(candidate.rank)) return "";
    return fmt::format("nobody waits for connection {} of rank {}", candidate.connection, peer);
  }

  void wait(net::time_point now) const {
    std::vector<pollfd> watched{{.fd = parts_.listener.descriptor(), .events = POLLIN, .revents = 0}};
    if (parts_.launcher != nullptr)
      watched.push_back({.fd = parts_.launcher->descriptor(), .events = POLLIN, .revents = 0});
    auto until = std::min(parts_.deadline, now + poll_interval);
    for (const call& each : calls_) {
      if (each.under_way) {
        const int events = POLLIN | (each.under_way->wants_to_write() ? POLLOUT : 0);
        watched.push_back({.fd = each.under_way->descriptor(), .events = static_cast<short>(events), .revents = 0});
      } else {
        until = std::min(until, each.next_try);
      }
    }
    net::wait_until(watched, until);
  }

  [[noreturn]] void give_up() const {
    std::uint32_t peer = 0;
    while (peer == own().value() || complete(rank_id(peer))) ++peer;
    const auto position =
        std::find_if(calls_.begin(), calls_.end(), [&](const call& c) { return c.peer == rank_id(peer); });
    const std::string trouble = position != calls_.end() ? position->last_trouble : "it did not call";
    const std::string remedy =
        fmt::format("look for an error of that rank, or give it more time with --nacre.{}", parts_.time_option);
    give_up_start(
        parts_.launcher,
        {.peer = rank_id(peer),
         .reason = fmt::format("was not connected with rank {} in time ({}): {}", own().value(), trouble, remedy),
         .message = setup_error(
             {.problem = fmt::format("rank {} waited in vain for rank {}: {}", own().value(), peer, trouble),
              .why = "a job begins when all ranks are connected",
              .remedy = remedy})});
  }

  const bootstrap& parts_;
  std::vector<candidates_of_rank> candidates_;
  std::size_t missing_;  // peers with too few connections
  std::list<call> calls_;
};

}  // namespace

std::vector<candidates_of_rank> connect_all(const bootstrap& parts) { return connector(parts).run(); }

}  // namespace nacre::launch
