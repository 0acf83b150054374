// SPDX-License-Identifier: Apache-2.0
// Images that are taken while the mains wait for quiescence.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include <nacre/nacre.hpp>

#include "join/launch/image_wish.hpp"
#include "runtime/checkpoints.hpp"
#include "runtime/engine.hpp"
#include "runtime/long_wait.hpp"

namespace nacre {
namespace {

constexpr double never_due = 1e9;       // seconds
constexpr double short_wait_max = 0.1;  // seconds of a wait that may end before an image that is due is taken
// Of a last image, when objects cannot be held, and when it cannot be written.
constexpr double hold_again = 0.2, write_again = 1;

}  // namespace

/// Whether images are taken while main waits. An interval below 1 us means one image at the end of each wait.
bool checkpoints::takes_in_waits() const noexcept { return !folder_.empty() && every_ >= std::chrono::microseconds(1); }

/// In virtual time a signal is looked for only when an image is due.
bool checkpoints::interrupts_waits() const noexcept {
  return takes_in_waits() || (!folder_.empty() && has_signal_ && !core_.messages().deferred());
}

/// Waits for quiescence. Images are taken meanwhile, when they are due, or a last one when a signal asks for it.
void checkpoints::wait_with_images(thread_context& thread, const detail::kept_value& kept) {
  long_wait wait(core_);
  const double every = takes_in_waits() ? std::chrono::duration<double>(every_).count() : never_due;
  const double long_enough = core_.job_time().seconds() + std::min(every, short_wait_max);
  waits_long_.store(true, std::memory_order_relaxed);  // a hint, as below
  for (;;) {
    const long_wait::outcome outcome =
        wait.until(thread, {.due = std::max({last_seconds_ + every, not_before_, long_enough}),
                            .wish_from = std::max(next_last_, long_enough)});
    if (outcome == long_wait::outcome::quiet) break;
    take_in_wait(thread, wait, kept, outcome == long_wait::outcome::wish);
  }
  waits_long_.store(false, std::memory_order_relaxed);
}

/// `last`: if it is durable, the job ends, with all objects held.
void checkpoints::take_in_wait(thread_context& thread, long_wait& wait, const detail::kept_value& kept, bool last) {
  constexpr double times_of_pause = 10;  // objects run at least this many times as long as the last image took
  runtime rt(core_, thread);
  const phase phase(rt, "image");
  const double begin = core_.job_time().seconds();
  const std::string reason = wait.hold(thread);
  std::optional<rank_image> image;
  if (reason.empty()) {
    image = cut(thread, kept);
  } else {
    tell_once("images are put off while the job waits for quiescence: " + reason);
  }
  if (last && image && keep(thread, image, kept.class_name, begin)) end_behind_last();
  wait.release(thread);
  const double released = core_.job_time().seconds();
  if (last) {
    next_last_ = released + std::max(image ? write_again : hold_again, times_of_pause * (released - begin));
    not_before_ = std::max(not_before_, next_last_);
    return;
  }
  retry_ = image ? 0 : std::max(2 * retry_, std::chrono::duration<double>(every_).count());
  not_before_ = released + std::max(retry_, times_of_pause * (released - begin));
  if (image) keep(thread, image, kept.class_name, begin);
}

/// A signal may come to one process alone; in a long wait only rank 0 looks for it.
std::chrono::nanoseconds checkpoints::poll(thread_context& thread, std::chrono::nanoseconds now) {
  constexpr auto never = std::chrono::nanoseconds::max();
  if (told_wish_ || core_.rank().value() == 0 || core_.messages().deferred() || core_.outside().stops.handled())
    return never;
  const int signal = launch::last_image_signal();
  if (signal == 0) return now + main_alarm::between_looks;
  told_wish_ = true;
  core_.messages().post_to_module<&checkpoints::on_wish>(thread, rank_id(0), signal);
  return never;
}

void checkpoints::on_wish(context&, int signal) {
  if (launch::last_image_signal() == 0) launch::wish_last_image(signal);
}

}  // namespace nacre
