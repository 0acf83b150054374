// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint sleeps, closes, and ends.
#include "transport/mpi/endpoint.hpp"

#include <algorithm>
#include <utility>

namespace nacre::transport::mpi {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr capabilities mpi_capabilities{.separate_processes = true, .separate_channels = true};

constexpr int part_of_stillness = 16;
constexpr std::chrono::microseconds pause_min{5};

steady_clock::time_point after(nanoseconds timeout) {
  return steady_clock::now() + std::min<nanoseconds>(timeout, std::chrono::hours(1));
}

}  // namespace

mpi_endpoint::mpi_endpoint(rank_id own_rank, std::uint32_t size, std::unique_ptr<port> end,
                           std::shared_ptr<shared_state> shared, const settings& settings)
    : rank_(own_rank),
      port_(std::move(end)),
      shared_(std::move(shared)),
      settings_(settings),
      peers_(size),
      words_(port_->carries_words()),
      stall_timeout_(settings.stall_timeout),
      idle_poll_interval_(settings.idle_poll_interval) {}

const capabilities& mpi_endpoint::declared() const noexcept { return mpi_capabilities; }

bool mpi_endpoint::unsent() const noexcept {
  const std::lock_guard lock(shared_->lock);
  return !busy_.empty();
}

/// MPI rings no doorbell, so a thread that waits sleeps between polls. Each sleep is a small part of the time for which
/// nothing has moved: a message is late by that part at most, and polling costs little. The thread does not yield the
/// core instead: on a busy core a thread that yields comes behind all computing threads, for milliseconds, while one
/// that wakes from sleep comes first.
bool mpi_endpoint::sleep_a_little(nanoseconds most) {
  const auto now = steady_clock::now();
  if (progressed_.exchange(false, std::memory_order_relaxed)) still_since_ = now;
  const nanoseconds part = (now - still_since_) / part_of_stillness;
  return sleeper_.park_for(std::min({std::max<nanoseconds>(part, pause_min), settings_.pause_max, most}));
}

void mpi_endpoint::wait(nanoseconds timeout) {
  if (sleeper_.park_for(nanoseconds::zero())) return;
  const auto deadline = after(timeout);
  for (;;) {
    {
      const std::unique_lock lock(shared_->lock, std::try_to_lock);  // when it is taken, another thread polls already
      if (lock.owns_lock() && progress(seen_, 1, reach::all)) return;
    }
    const nanoseconds left = deadline - steady_clock::now();
    if (left <= nanoseconds::zero() || sleep_a_little(left)) return;
  }
}

void mpi_endpoint::forget_waiting(std::uint32_t rank) {
  for (link& each : peers_[rank].links) {
    each.waiting.clear();  // pump removes it from busy_
    each.waiting_bytes = 0;
  }
}

/// Receives, and drops arriving messages, until the condition holds or the time is over.
template <class Condition>
bool mpi_endpoint::receive_until(Condition is_over, nanoseconds timeout) {
  const auto deadline = after(timeout);
  for (;;) {
    message_list unwanted;
    {
      const std::lock_guard lock(shared_->lock);
      progress(unwanted, 256, reach::all);
      if (is_over()) return true;
      if (broken_) return false;
    }
    const nanoseconds left = deadline - steady_clock::now();
    if (left <= nanoseconds::zero()) return false;
    sleep_a_little(left);
  }
}

bool mpi_endpoint::flushed() const noexcept {
  return busy_.empty() && std::none_of(transfers_.begin(), transfers_.end(), [this](const transfer& transfer) {
           return transfer.stage != transfer::kind::unused && transfer.stage != transfer::kind::arriving &&
                  peers_[transfer.peer_place.peer].now == peer::state::present;
         });
}

bool mpi_endpoint::all_over() const noexcept {
  if (transfers_under_way() + rendezvous_requests_.size() != 0) return false;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    const auto& links = peers_[rank].links;
    if (rank != rank_.value() && !std::all_of(links.begin(), links.end(), [](const link& l) { return l.closed; })) {
      return false;
    }
  }
  return true;
}

void mpi_endpoint::send_close(close_kind kind) {
  for (std::uint32_t rank = 0; rank < size() && !broken_; ++rank) {
    if (rank == rank_.value()) continue;
    forget_waiting(rank);
    for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
      transfer& transfer = begin(transfer::kind::fragment, {rank, channel_index});
      transfer.control_bytes[0] = static_cast<std::byte>(kind);
      handle_outcome(transfer, port_->send({channel_index, rank, transfer.request_id},
                                           {transfer.control_bytes.data(), 1}, port::completion::buffered));
    }
  }
}

void mpi_endpoint::close(nanoseconds timeout) {
  {
    const std::lock_guard lock(shared_->lock);
    closing_ = true;
  }
  receive_until([this] { return flushed(); }, timeout);
  const std::lock_guard lock(shared_->lock);
  send_close(close_kind::shutdown);
  closed_ = true;
}

mpi_endpoint::~mpi_endpoint() {
  if (!closed_) {
    const std::lock_guard lock(shared_->lock);
    closing_ = true;
    if (settings_.tells_of_failure) send_close(close_kind::abandoned);
  }
  const nanoseconds patience = closed_ ? settings_.patience_at_close : settings_.patience_in_failure;
  const bool quiet = receive_until([this] { return all_over(); }, patience);
  const std::lock_guard lock(shared_->lock);
  if (!quiet) leave_to_mpi();
  port_.reset();
}

/// MPI may still read or write the buffers of transfers in progress, and no call can stop it.
void mpi_endpoint::leave_to_mpi() {
  shared_->quiet = false;
  if (transfers_under_way() == 0) return;
  struct leftovers {
    std::deque<transfer> transfers;
    std::vector<peer> peers;
  };
  static auto* const all = new std::list<leftovers>;  // reachable for ever, and under lock
  all->push_back({std::move(transfers_), std::move(peers_)});
}

}  // namespace nacre::transport::mpi
