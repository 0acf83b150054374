// SPDX-License-Identifier: Apache-2.0
// Signals that ask the job for a last image, behind which it ends.
#pragma once

#include <chrono>
#include <thread>

#include <nacre/config.hpp>
#include <nacre/error.hpp>

#include "join/net/socket.hpp"

namespace nacre {

inline constexpr int exit_behind_image = 75;  ///< EX_TEMPFAIL of sysexits.h: start the job again
inline constexpr int exit_refused = 78;       ///< EX_CONFIG: the image does not go on on this number of ranks

/// Thrown in main by a kept wait, on all ranks, when the job ends behind its last image. A program does not catch it.
struct end_behind_image {};

/// The image does not go on on this number of ranks. Thrown in main by rt.restored, on all ranks; nothing has changed.
class restore_refused : public setup_error {
 public:
  using setup_error::setup_error;
};

/// While an object of this class lives, `checkpoint.signal` asks for a last image.
///
/// | a process | the first signal | then |
/// |---|---|---|
/// | without checkpoint.folder; with a handler of its own, or one that ignores the signal | as ever | |
/// | a rank of `nacre run`, which acts for it | nothing | |
/// | another one | a wish is noted (image_wish.hpp) | a second one, or the end of checkpoint.grace, ends it |
///
/// At the end of checkpoint.grace the code is 75 if there is an image of the job, else 128 and the signal. A thread
/// looks after that, so it does not depend on what the ranks compute.
class last_image_signals {
 public:
  /// `first`: the process holds rank 0. To be made when the transport is open, since libraries of transports set
  /// handlers, too.
  last_image_signals(const config& configuration, bool first);
  last_image_signals(const last_image_signals&) = delete;
  last_image_signals& operator=(const last_image_signals&) = delete;
  ~last_image_signals();

  /// There is an image from which this job can go on. Any thread.
  static void note_image() noexcept;

 private:
  void watch() const;
  [[noreturn]] void end_process(int signal) const;

  int signal_ = 0;  // 0: nothing is set
  std::chrono::nanoseconds grace_{};
  bool first_;
  net::unique_fd told_, tells_;  // a pipe: a byte for the signal, another one for the end of the job
  std::thread watcher_;
};

/// The number of the signal that checkpoint.signal names; 0: none.
[[nodiscard]] int last_image_signal_of(const config& configuration);

}  // namespace nacre
