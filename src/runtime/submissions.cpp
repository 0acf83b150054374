// SPDX-License-Identifier: Apache-2.0
// Running submissions.
#include "runtime/submissions.hpp"

#include "exec/worker_pool.hpp"

namespace nacre {
namespace {

constexpr int submissions_per_poll = 256;
constexpr std::chrono::microseconds retry{50};  // where the links are full, or the workers have too much

}  // namespace

submissions::submissions(engine& core, am_engine& messages, backplane& link, clock& time, std::uint64_t bytes_max)
    : core_(core),
      messages_(messages),
      link_(link),
      time_(time),
      queue_(std::make_shared<submission_queue>(bytes_max, [&link] { link.wake(); })) {}

void submissions::bound(std::uint64_t bytes_max) {
  window_ = std::make_unique<main_send_window>(bytes_max, [this] { link_.wake(); });
}

void submissions::note_opened(thread_context& thread) {
  thread.counters().created.add(1);
  doors_.fetch_add(1, std::memory_order_relaxed);  // a hint for the report of a deadlock
}

void submissions::note_closed(thread_context& thread) {
  doors_.fetch_sub(1, std::memory_order_relaxed);
  thread.counters().done.add(1);
}

/// Whether one more message may be sent.
bool submissions::has_room() {
  if (link_.congested() || link_.backpressure()) return false;
  if (window_ == nullptr || !window_->over()) return true;
  window_->check(time_.now(), [this] {
    return messages_.pool().idle_workers() == messages_.pool().workers() ? main_send_window::workers::idle
                                                                         : main_send_window::workers::busy;
  });
  return !window_->over();
}

std::chrono::nanoseconds submissions::run_some(thread_context& thread) {
  main_send_window* const window = thread.window();
  for (int each = 0; each < submissions_per_poll; ++each) {
    if (!has_room()) return time_.now() + retry;
    const std::unique_ptr<detail::submission> next = queue_->take();
    if (next == nullptr) return std::chrono::nanoseconds::max();
    thread.set_window(window_.get());
    next->run(core_, thread);
    thread.set_window(window);
  }
  return time_.now();
}

}  // namespace nacre
