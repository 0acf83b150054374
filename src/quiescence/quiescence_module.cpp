// SPDX-License-Identifier: Apache-2.0
// Connects the detector with its rank.
#include "quiescence/quiescence_module.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace nacre {
namespace {

constexpr std::chrono::nanoseconds calm_step{1'000};
constexpr std::chrono::milliseconds still_before_pauses{1};
constexpr int pauses_in_still_time = 16;
constexpr std::chrono::milliseconds longest_pause{10};
constexpr std::chrono::nanoseconds look_again{20'000};  // at a wave of the root's that has begun, if nothing else moves

}  // namespace

quiescence_module::quiescence_module(am_engine& messages, clock& time, std::chrono::nanoseconds calm,
                                     std::unique_ptr<quiescence::detector> detector)
    : messages_(messages), time_(time), calm_(calm), detector_(std::move(detector)) {
  messages_.attach_module(*this);
}

void quiescence_module::note_wish() {
  // Hints; the mutex orders the rest.
  wanted_.store(detector_->wants_counters(), std::memory_order_relaxed);
  const bool still = detector_->still();
  if (still && !still_.load(std::memory_order_relaxed)) stands_still_since_ = time_.now();
  still_.store(still, std::memory_order_relaxed);
}

/// How long the root waits between two waves while nothing happens.
std::chrono::nanoseconds quiescence_module::pause(std::chrono::nanoseconds now) {
  if (!still_.load(std::memory_order_relaxed) || messages_.deferred()) {  // a hint
    still_since_.reset();
    return {};
  }
  if (!still_since_) still_since_ = now;
  const std::chrono::nanoseconds lasted = now - *still_since_;
  if (lasted < still_before_pauses) return {};
  return std::min<std::chrono::nanoseconds>(lasted / pauses_in_still_time, longest_pause);
}

void quiescence_module::request(thread_context& thread, std::function<void(thread_context&)> action,
                                answer_by answer_by) {
  const std::scoped_lock lock(mutex_);
  thread_ = &thread;
  const std::uint64_t number = detector_->request(*this);
  waiting_.push_back({number, std::move(action), answer_by});
  if (answer_by == answer_by::hold) detector_->forget_still();
  note_wish();
}

void quiescence_module::renew(thread_context& thread) {
  const std::scoped_lock lock(mutex_);
  thread_ = &thread;
  for (waiting& each : waiting_) each.number = detector_->request(*this);
  note_wish();
}

std::chrono::nanoseconds quiescence_module::poll(thread_context& thread, bool at_rest) {
  constexpr auto never = std::chrono::nanoseconds::max();
  if (!at_rest || !wanted_.load(std::memory_order_relaxed)) return never;  // a hint: the next pass reads it again
  const quiescence::unit_counters now_counted = counters();
  const auto now = time_.now();
  if (now_counted != last_seen_) {
    last_seen_ = now_counted;
    changed_at_ = now;
  }
  if (now_counted != handed_over_) {
    if (now - changed_at_ < calm_now_) return changed_at_ + calm_now_;
    calm_now_ = std::min(calm_, calm_now_ * 2 + calm_step);
    handed_over_ = now_counted;
    still_since_.reset();
  } else if (const auto due = handed_over_at_ + pause(now); now < due) {
    return due;
  }
  handed_over_at_ = now;
  const std::scoped_lock lock(mutex_);
  thread_ = &thread;
  thread.record(trace::event_kind::wave);
  detector_->on_idle(*this, now_counted);
  note_wish();
  return wanted_.load(std::memory_order_relaxed) ? now + std::max(calm_, look_again)
                                                 : never;  // the root may have begun the next wave
}

void quiescence_module::on_detector_message(context& ctx, quiescence::detector_message m) {
  const std::scoped_lock lock(mutex_);
  thread_ = &detail::thread_of(ctx);
  if (!detector_->on_message(*this, ctx.source(), m)) {
    messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent a wave that nobody asked for");
  }
  note_wish();
}

/// Reads every `done` before any `created`: see detector.hpp, rule 1.
quiescence::unit_counters quiescence_module::counters() const {
  const timer_queue& timers = messages_.pool().duties().timers();
  quiescence::unit_counters sum;
  sum.done = timers.done();
  for (const auto& each : messages_.pool().thread_contexts()) sum.done += each->counters().done.read();
  for (const auto& each : messages_.pool().thread_contexts()) sum.created += each->counters().created.read();
  sum.created += timers.created();
  sum.lying = messages_.held.lying();
  sum.taken_up = messages_.held.taken_up();
  return sum;
}

void quiescence_module::send(rank_id target, const quiescence::detector_message& m) {
  sent_.fetch_add(1, std::memory_order_relaxed);
  messages_.post_to_module<&quiescence_module::on_detector_message>(*thread_, target, m);
}

void quiescence_module::declare(std::uint64_t last) {
  thread_->record(trace::event_kind::quiet);
  calm_now_ = std::chrono::nanoseconds::zero();
  const bool held = messages_.held.on();
  std::deque<waiting> later;
  while (!waiting_.empty() && waiting_.front().number <= last) {
    waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (held && next.answerer == answer_by::quiescence) {
      later.push_back(std::move(next));
    } else {
      next.action(*thread_);
    }
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
}

}  // namespace nacre
