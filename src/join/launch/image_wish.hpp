// SPDX-License-Identifier: Apache-2.0
// The wish that the job takes a last image and ends.
#pragma once

namespace nacre::launch {

/// A signal to this process, or the launcher's message of one, asks the job for a last image. It is noted for the
/// process, as a signal comes to one.
///
/// Notes the signal. Any thread, also in a handler of signals.
void wish_last_image(int signal) noexcept;
/// The signal that was noted, or 0. Any thread.
[[nodiscard]] int last_image_signal() noexcept;
/// Forgets the wish: a job begins.
void forget_last_image() noexcept;

}  // namespace nacre::launch
