// SPDX-License-Identifier: Apache-2.0
// Reads a thread's CPU time, but seldom.
#include "balance/look_timer.hpp"

#include <algorithm>
#include <ctime>

namespace nacre::balance {
namespace {

constexpr double long_look_seconds = 50e-6;      // looks above this read the thread's CPU time
constexpr double mark_seconds = 500e-6;          // age from which a mark is renewed
constexpr double unknown_look_seconds = 200e-6;  // upper bound for a long look of a thread without a mark

}  // namespace

double thread_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Two marks of one worker tell the part of the time that it had a processor. Other threads tell nothing: they sleep
/// much of the time anyway.
void look_timer::mark(const thread_context& thread, double known) noexcept {
  constexpr double average_of = 4, least = 0.01;
  const std::uint64_t now = pool_.instant();
  if (mark_.thread == &thread && thread.role() == thread_role::worker && now > mark_.instant) {
    const double passed = static_cast<double>(now - mark_.instant) * pool_.seconds_a_tick();
    part_ += (std::clamp((known - mark_.thread_seconds) / passed, least, 1.0) - part_) / average_of;
  }
  mark_ = {&thread, now, known};
}

double look_timer::worked() noexcept {
  const std::uint64_t now = pool_.instant();
  if (now <= worked_at_) return worked_;  // the instants of simulated workers may go back
  if (worked_at_ != 0) worked_ += static_cast<double>(now - worked_at_) * pool_.seconds_a_tick() * part_;
  worked_at_ = now;
  return worked_;
}

void look_timer::begin(const thread_context& thread) noexcept {
  thread_ = &thread;
  begin_ = pool_.instant();
  if (simulated_ || static_cast<double>(begin_ - mark_.instant) * pool_.seconds_a_tick() < mark_seconds) return;
  mark(thread, thread_seconds());
}

double look_timer::end(double apart) noexcept {
  double seconds = static_cast<double>(pool_.instant() - begin_) * pool_.seconds_a_tick() - apart;
  if (!simulated_ && seconds > long_look_seconds) {
    const double known = thread_seconds();
    const double most = mark_.thread == thread_ ? known - mark_.thread_seconds : unknown_look_seconds;
    seconds = std::clamp(most, 0.0, seconds);
    mark(*thread_, known);
  }
  return std::max(0.0, seconds);
}

}  // namespace nacre::balance
