// SPDX-License-Identifier: Apache-2.0
// A listener that admits the callers that prove the job's secret, for as long as the job lasts.
#include "join/net/listener.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "join/net/watch.hpp"

namespace nacre::net {
namespace {

unique_fd spare_descriptor() noexcept { return unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

listener::listener(unique_fd listening_socket, const job_secret& secret, peer_identity local, refusal_log log,
                   const limits& first)
    : listening_socket_(std::move(listening_socket)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      spare_(spare_descriptor()),
      secret_(secret),
      local_(std::move(local)),
      log_(std::move(log)),
      limits_(first) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!events_ || ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, listening_socket_.get(), &event) != 0) {
    throw no_watch(errno);
  }
}

void listener::poll(time_point now, std::vector<peer_candidate>& admitted) {
  std::array<epoll_event, before_job.places + 1> ready;  // all handshakes, and the calls
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  bool calls = !hears_calls_;
  for (int i = 0; i < count; ++i) {
    const void* const subject = ready[static_cast<std::size_t>(i)].data.ptr;
    if (subject == nullptr) {
      calls = true;
      continue;
    }
    for (auto each = handshakes_.begin(); each != handshakes_.end(); ++each) {
      if (&*each != subject) continue;
      advance(each, now, admitted);
      break;
    }
  }
  while (!handshakes_.empty() && handshakes_.front().deadline() <= now) advance(handshakes_.begin(), now, admitted);
  if (calls) accept_all(now, admitted);
}

void listener::accept_all(time_point now, std::vector<peer_candidate>& admitted) {
  // Bounded, so that a flood of strangers cannot keep the poll loop here. Before the job begins, all that call are
  // wanted, and between two batches a rank looks after each call of its own.
  const int calls_max = has_begun_ ? 16 : 256;
  int calls = 0;
  while (calls < calls_max && accept_one(now, admitted)) ++calls;
}

/// Takes a call, unless none waits or none may be taken now.
bool listener::accept_one(time_point now, std::vector<peer_candidate>& admitted) {
  const bool is_full = handshakes_.size() >= limits_.places;
  hear_calls(!is_full || oldest_may_go(now));
  if (!hears_calls_) return false;
  address caller;
  unique_fd socket = accept_from(listening_socket_.get(), &caller);
  const bool no_descriptors = !socket && (errno == EMFILE || errno == ENFILE);
  if (!socket && !no_descriptors) return false;
  if (no_descriptors && handshakes_.empty()) {
    turn_away_one();
  } else if (no_descriptors && !oldest_may_go(now)) {
    hear_calls(false);
  } else if (no_descriptors || is_full) {
    give_up_oldest(now);
  }
  if (!socket) return false;
  handshakes_.emplace_back(std::move(socket), caller, handshake(handshake_role::acceptor, secret_, local_),
                           now + limits_.time);
  watch(handshakes_.back(), EPOLL_CTL_ADD);
  advance(std::prev(handshakes_.end()), now, admitted);
  return true;
}

bool listener::oldest_may_go(time_point now) const {
  return has_begun_ || handshakes_.front().deadline() - limits_.time + limits_.undisturbed <= now;
}

/// While no call may be taken, calls that wait must not keep the poll loop awake.
void listener::hear_calls(bool hears) {
  if (hears == hears_calls_) return;
  hears_calls_ = hears;
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  ::epoll_ctl(events_.get(), hears ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listening_socket_.get(), &event);
}

/// Else the socket would stay readable, and the poll loop would never sleep. A member calls again.
void listener::turn_away_one() {
  spare_.reset();
  accept_from(listening_socket_.get(), nullptr).reset();
  spare_ = spare_descriptor();
}

void listener::job_begins(time_point now) {
  if (has_begun_) return;
  has_begun_ = true;
  limits_ = during_job;
  hear_calls(true);
  while (handshakes_.size() > limits_.places) give_up_oldest(now);
  for (socket_handshake& each : handshakes_) each.hurry(now + limits_.time);
}

void listener::give_up_oldest(time_point now) {
  if (has_begun_) {
    log_.write(fmt::format("gave up on a peer at {}: too many others are calling", handshakes_.front().address()), now);
  }
  handshakes_.pop_front();
}

void listener::log_refusal(const socket_handshake& refused, time_point now) {
  const refusal_reason reason = refused.why().reason;
  const bool may_be_member = reason == refusal_reason::closed || reason == refusal_reason::timed_out;
  if (may_be_member && !has_begun_) return;
  log_.write(refused.why().log_line(refused.address()), now);
}

void listener::advance(place place, time_point now, std::vector<peer_candidate>& admitted) {
  const bool wanted_to_write = place->wants_to_write();
  switch (place->advance(now)) {
    case socket_handshake::outcome::pending:
      if (wanted_to_write != place->wants_to_write()) watch(*place, EPOLL_CTL_MOD);
      return;
    case socket_handshake::outcome::accepted:
      ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, place->descriptor(), nullptr);
      admitted.push_back(place->take());
      break;
    case socket_handshake::outcome::refused:
      log_refusal(*place, now);
      break;
  }
  handshakes_.erase(place);
}

void listener::watch(const socket_handshake& selection, int operation) {
  epoll_event event{};
  event.events = EPOLLIN | (selection.wants_to_write() ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = const_cast<socket_handshake*>(&selection);
  ::epoll_ctl(events_.get(), operation, selection.descriptor(),
              &event);  // fails only for want of memory; then the deadline ends the handshake
}

void listener::refuse(const peer_candidate& refused, std::string_view reason, time_point now) {
  log_.write(refusal{.reason = refusal_reason::bad_rank, .explanation = std::string(reason)}.log_line(refused.address),
             now);
}

}  // namespace nacre::net
