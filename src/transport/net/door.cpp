// SPDX-License-Identifier: Apache-2.0
// A listener that admits the callers that prove the job's secret, for as long as the job lasts.
#include "transport/net/door.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre::transport::net {

door::door(unique_fd listener, const job_secret& secret, peer_identity local, refusal_log log)
    : listener_(std::move(listener)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      secret_(secret),
      local_(std::move(local)),
      log_(std::move(log)) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!events_ || ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) {
    throw setup_error({.problem = "cannot watch a socket: " + error_text(errno),
                       .why = "the ranks of a job connect to each other",
                       .remedy = "raise the limit of open files (ulimit -n)"});
  }
}

void door::poll(time_point now, std::vector<guest>& admitted) {
  epoll_event ready[16];
  const int count = ::epoll_wait(events_.get(), ready, std::size(ready), 0);
  bool calls = false;
  for (int i = 0; i < count; ++i) {
    const void* const subject = ready[i].data.ptr;
    if (subject == nullptr) {
      calls = true;
      continue;
    }
    for (auto each = greetings_.begin(); each != greetings_.end(); ++each) {
      if (&*each != subject) continue;
      advance(each, now, admitted);
      break;
    }
  }
  while (!greetings_.empty() && greetings_.front().deadline() <= now) advance(greetings_.begin(), now, admitted);
  if (calls) accept_all(now, admitted);
}

void door::accept_all(time_point now, std::vector<guest>& admitted) {
  // Bounded, so that a flood of strangers cannot keep the poll loop here.
  for (int calls = 0; calls < 16; ++calls) {
    unique_fd socket = accept_from(listener_.get());
    const bool no_descriptors = !socket && (errno == EMFILE || errno == ENFILE);
    if (!socket && !no_descriptors) return;
    if (greetings_.size() == limits_.places || (no_descriptors && !greetings_.empty())) give_up_oldest(now);
    if (!socket) return;
    greetings_.emplace_back(std::move(socket), handshake(handshake_role::acceptor, secret_, local_),
                            now + limits_.time);
    watch(greetings_.back(), EPOLL_CTL_ADD);
    advance(std::prev(greetings_.end()), now, admitted);
  }
}

void door::job_begins(time_point now) {
  if (limits_.places == during_job.places) return;
  limits_ = during_job;
  while (greetings_.size() > limits_.places) give_up_oldest(now);
  for (greeting& each : greetings_) each.hurry(now + limits_.time);
}

void door::give_up_oldest(time_point now) {
  if (limits_.places == during_job.places) {
    log_.write(fmt::format("gave up on a peer at {}: too many others are calling", greetings_.front().address()), now);
  }
  greetings_.pop_front();
}

void door::tell(const greeting& refused, time_point now) {
  const refusal_reason why = refused.why().reason;
  const bool may_be_member = why == refusal_reason::closed || why == refusal_reason::timed_out;
  if (may_be_member && limits_.places != during_job.places) return;
  log_.write(refused.why().log_line(refused.address()), now);
}

void door::advance(place which, time_point now, std::vector<guest>& admitted) {
  const bool wanted_to_write = which->wants_to_write();
  switch (which->advance(now)) {
    case greeting::outcome::pending:
      if (wanted_to_write != which->wants_to_write()) watch(*which, EPOLL_CTL_MOD);
      return;
    case greeting::outcome::accepted:
      ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, which->descriptor(), nullptr);
      admitted.push_back(which->take());
      break;
    case greeting::outcome::refused:
      tell(*which, now);
      break;
  }
  greetings_.erase(which);
}

void door::watch(const greeting& which, int operation) {
  epoll_event event{};
  event.events = EPOLLIN | (which.wants_to_write() ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = const_cast<greeting*>(&which);
  ::epoll_ctl(events_.get(), operation, which.descriptor(),
              &event);  // fails only for want of memory; then the deadline ends the handshake
}

void door::refuse(const guest& whom, std::string_view why, time_point now) {
  log_.write(refusal{.reason = refusal_reason::bad_rank, .why = std::string(why)}.log_line(whom.address), now);
}

}  // namespace nacre::transport::net
