// SPDX-License-Identifier: Apache-2.0
// Images that are taken while the mains wait for quiescence.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <nacre/nacre.hpp>

#include "runtime/checkpoints.hpp"
#include "runtime/engine.hpp"
#include "runtime/long_wait.hpp"

namespace nacre {
namespace {

constexpr double never_due = 1e9;       // seconds
constexpr double short_wait_max = 0.1;  // seconds of a wait that may end before an image that is due is taken

}  // namespace

/// An image every few nanoseconds is one at the end of each wait.
bool checkpoints::takes_in_waits() const noexcept { return !folder_.empty() && every_ >= std::chrono::microseconds(1); }

/// Waits for quiescence. Images are taken meanwhile, when they are due.
void checkpoints::wait_with_images(thread_context& on, const detail::kept_value& kept) {
  long_wait wait(core_);
  // Handlers that run inside of `restored` could use containers that the program has not taken over yet.
  const bool has_containers = core_.containers().next_container() != 1;
  const double every = std::chrono::duration<double>(every_).count();
  const double long_enough = core_.job_time().seconds() + std::min(every, short_wait_max);
  while (!wait.until(on, has_containers ? never_due : std::max({last_seconds_ + every, not_before_, long_enough})))
    take_in_wait(on, wait, kept);
}

void checkpoints::take_in_wait(thread_context& on, long_wait& wait, const detail::kept_value& kept) {
  constexpr double times_of_pause = 10;  // that the objects run between two images
  runtime rt(core_, on);
  const phase here(rt, "image");
  const double begin = core_.job_time().seconds();
  const std::string why = wait.hold(on);
  std::optional<rank_image> image;
  if (why.empty()) {
    image = cut(on, kept);
  } else {
    tell_once("images are put off while the job waits for quiescence: " + why);
  }
  wait.release(on);
  const double released = core_.job_time().seconds();
  retry_ = image ? 0 : std::max(2 * retry_, std::chrono::duration<double>(every_).count());
  not_before_ = released + std::max(retry_, times_of_pause * (released - begin));
  if (image) keep(on, image, kept.class_name, begin);
}

}  // namespace nacre
