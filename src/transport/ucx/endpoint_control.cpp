// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint beside its data path: the first and the last frames with its peers, failures, the launcher.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The messages on a liveness socket.
enum class liveness_message : std::uint8_t { ready = 1, shutdown = 2 };

constexpr milliseconds retry_interval{1};

/// Messages that UCX has taken may still wait in UCX's own buffers. To flush those UCX needs the peers, which may have
/// finished and polled for the last time. After this time the destructor goes on with the rest.
constexpr milliseconds flush_max{300};

/// How long an endpoint that has closed waits for the shutdown messages of its peers.
constexpr std::chrono::seconds close_wait_max{5};

bool send_liveness(const net::unique_fd& liveness_socket, liveness_message message) {
  return net::send_some(liveness_socket.get(), &message, sizeof message) == std::ptrdiff_t{sizeof message};
}

[[noreturn]] void throw_apart(rank_id own_rank, std::uint32_t peer, const std::string& name,
                              const std::string& remedy) {
  throw setup_error(
      {.problem = fmt::format("rank {} and rank {} do not reach each other by UCX: {}", own_rank.value(), peer, name),
       .why = "a job begins when all ranks are connected",
       .remedy = remedy});
}

}  // namespace

/// Makes progress until the condition holds or the deadline has passed. While joining, it keeps arriving messages,
/// since a peer may have joined before, and it throws a failure that ends the job. Otherwise it drops arriving
/// messages.
template <class Condition>
bool ucx_endpoint::progress_until(Condition is_over, net::time_point deadline, bool joining) {
  for (;;) {
    bool moved = false;
    {
      const std::scoped_lock lock(lock_);
      message_list unwanted;
      moved = progress(joining ? seen_ : unwanted, std::size_t{1} << 16);
      if (joining) exception_.throw_kept();
      poll_control();
      if (is_over()) return true;
    }
    if (const failure* const first = monitor_.first_failure(); joining && first != nullptr) {
      if (!first->peer || first->announced) throw job_aborted(describe(*first));
      throw_apart(rank_, first->peer->value(), first->reason, "look for what it has printed");
    }
    if (steady_clock::now() >= deadline) return false;
    if (!moved) wait(retry_interval);
  }
}

/// A first frame on each channel completes the connection of two UCX workers; without it a rank could not leave before
/// its peers have polled. When all ranks have done that, no rank depends on another's polling any more.
void ucx_endpoint::wait_for_peers(net::time_point deadline) {
  {
    const std::scoped_lock lock(lock_);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (peers_[rank].now != peer::state::present) continue;
      for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
        transfer& transfer = begin(transfer::kind::sign, {rank, channel_index});
        transfer.frame_stamp.sequence = 0;
        handle_outcome(transfer, port_->send(rank, channel_index, frame_kind::message, transfer.frame_stamp, {},
                                             transfer.request_id));
      }
    }
    flush_links();
  }
  const auto find_missing = [&](auto lacks) {
    const auto position = std::find_if(peers_.begin(), peers_.end(),
                                       [&](const peer& p) { return p.now != peer::state::lost && lacks(p); });
    return static_cast<std::uint32_t>(position == peers_.end() ? rank_.value() : position - peers_.begin());
  };
  constexpr const char* remedy =
      "look for an error of that rank; UCX_LOG_LEVEL=info and UCX_TLS tell and choose how UCX connects";
  if (!progress_until([&] { return unheard_ == 0 && sending_ == 0; }, deadline, true)) {
    const std::uint32_t missing = find_missing([](const peer& p) {
      return std::any_of(p.links.begin(), p.links.end(), [](const link& l) { return !l.heard; });
    });
    throw_apart(rank_, missing, "it was not heard in time", remedy);
  }
  for (peer& each : peers_) {
    if (each.parts.liveness_socket) send_liveness(each.parts.liveness_socket, liveness_message::ready);
  }
  if (!progress_until([&] { return unready_ == 0; }, deadline, true)) {
    const std::uint32_t missing = find_missing([](const peer& p) { return !p.ready; });
    throw_apart(rank_, missing, "it is not ready in time", remedy);
  }
}

/// UCX may need the peer's help for a flush, so links on which nothing was sent since the last flush are not flushed.
void ucx_endpoint::flush_links() {
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (peers_[rank].now != peer::state::present) continue;
    for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
      if (std::exchange(peers_[rank].links[channel_index].flushed, true)) continue;
      transfer& transfer = begin(transfer::kind::flush, {rank, channel_index});
      handle_outcome(transfer, port_->flush(rank, channel_index, transfer.request_id));
    }
  }
}

void ucx_endpoint::poll_control() {
  monitor_.poll([this](std::uint32_t rank) { read_liveness_socket(rank); });
  if (suspects_ != 0) check_suspects();
  report_lost_peers();
}

void ucx_endpoint::read_liveness_socket(std::uint32_t rank) {
  peer& peer = peers_[rank];
  liveness_message heard{};
  const std::ptrdiff_t got = net::receive_some(peer.parts.liveness_socket.get(), &heard, sizeof heard);
  if (got == 0) return;
  if (got > 0 && heard == liveness_message::ready && !peer.ready) {
    peer.ready = true;
    --unready_;
    return;
  }
  const bool shutdown = got > 0 && heard == liveness_message::shutdown;
  const std::string reason = got > 0 ? "says what makes no sense" : "closed its connection without a shutdown";
  peer.parts.liveness_socket.reset();  // nothing else comes; epoll forgets it
  if (shutdown && peer.now != peer::state::lost) {
    if (peer.now == peer::state::suspect) --suspects_;
    peer.now = peer::state::left;
    return forget_waiting(peer);
  }
  lose(rank, reason);
}

/// UCX does not reach a peer: it has ended, with a shutdown or without. Its liveness socket decides.
void ucx_endpoint::suspect(std::uint32_t rank, std::string_view reason) {
  peer& affected = peers_[rank];
  if (affected.now != peer::state::present) return;
  affected.now = peer::state::suspect;
  affected.suspicion = reason;
  affected.suspect_since = steady_clock::now();
  ++suspects_;
  forget_waiting(affected);
  monitor_.make_due();
}

void ucx_endpoint::check_suspects() {
  const auto now = steady_clock::now();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    const peer& affected = peers_[rank];
    if (affected.now != peer::state::suspect || now < affected.suspect_since + suspicion_max) continue;
    lose(rank, "cannot be reached by UCX any more: " + affected.suspicion);
  }
}

void ucx_endpoint::lose(std::uint32_t rank, std::string_view reason) {
  peer& affected = peers_[rank];
  if (affected.now == peer::state::lost) return;
  if (affected.now == peer::state::suspect) --suspects_;
  const bool had_left = affected.now == peer::state::left;
  affected.now = peer::state::lost;
  forget_waiting(affected);
  if (closing_ || had_left) return;
  lost_.push_back({.peer = rank_id(rank), .reason = std::string(reason)});
  monitor_.make_due();
}

/// Not in `lose`, which a thread that only waits may call: the launcher connection belongs to the polling thread, and
/// may be shared with another end of this rank.
void ucx_endpoint::report_lost_peers() {
  for (; !lost_.empty(); lost_.pop_front()) {
    monitor_.report_lost(*lost_.front().peer, std::move(lost_.front().reason));
  }
}

std::optional<failure> ucx_endpoint::failed() {
  if (!monitor_.any_failure()) return std::nullopt;
  const std::scoped_lock lock(lock_);
  return monitor_.take_failure();
}

bool ucx_endpoint::flushed() const noexcept {
  return busy_.empty() && std::none_of(transfers_.begin(), transfers_.end(), [this](const transfer& transfer) {
           return transfer.stage != transfer::kind::unused && !transfer.comes_in() &&
                  peers_[transfer.peer_place.peer].now == peer::state::present;
         });
}

void ucx_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  {
    const std::scoped_lock lock(lock_);
    closing_ = true;
  }
  if (progress_until([this] { return flushed(); }, deadline, false)) {
    {
      const std::scoped_lock lock(lock_);
      flush_links();
    }
    progress_until([this] { return flushed(); }, std::min(deadline, steady_clock::now() + flush_max), false);
  }
  const std::scoped_lock lock(lock_);
  for (peer& each : peers_) {
    forget_waiting(each);
    if (each.parts.liveness_socket) send_liveness(each.parts.liveness_socket, liveness_message::shutdown);
  }
  busy_.clear();
  monitor_.report_left();
  closed_ = true;
}

/// Buffers that UCX still reads or writes must stay until it is disconnected; its sends are cut off only when no peer
/// needs them.
ucx_endpoint::~ucx_endpoint() {
  closing_ = true;
  if (closed_) {
    progress_until(
        [this] {
          return std::none_of(peers_.begin(), peers_.end(),
                              [](const peer& p) { return bool(p.parts.liveness_socket); });
        },
        steady_clock::now() + close_wait_max, false);
  }
  const std::scoped_lock lock(lock_);
  destination_ = &seen_;
  refuse_requests();
  port_->disconnect();
  port_.reset();
  destination_ = nullptr;
  leave_to_peers();
}

/// A peer of this host that knows the address of a message may still read it there, and no call can stop it.
void ucx_endpoint::leave_to_peers() {
  static std::mutex mutex;
  static auto* const all = new message_list;  // reachable for ever, and under mutex
  const std::scoped_lock lock(mutex);
  for (transfer& each : transfers_) {
    if (each.stage == transfer::kind::frame && each.m != nullptr) all->push_back(std::move(each.m));
  }
}

}  // namespace nacre::transport::ucx
