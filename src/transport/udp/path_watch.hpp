// SPDX-License-Identifier: Apache-2.0
// Tells a peer that does not poll from a path on which no datagram passes any more.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/udp/sent_datagrams.hpp"

namespace nacre::transport::udp {

/// A silent peer proves nothing: it may compute for an hour. But a rank that reads a question on the liveness socket
/// has just read its datagrams, too. So when nothing has come from the peer for long, though bytes wait for its
/// acknowledgement, it is asked there, again and again; when it has answered answers_max questions and still no
/// datagram has come, none passes.
///
/// | waits | event | then |
/// |---|---|---|
/// | no question | `look`, bytes wait, nothing has come for `silence_max`; after an answer, an eighth of it | asks |
/// | for an answer | the answer, the answers_max-th in a row | the path is broken |
/// | for an answer | any other answer | waits for no question |
/// | - | a datagram comes, or `look` finds that no bytes wait | begins anew; the answer under way does not count |
///
/// No false alarm, as long as at least one datagram in some dozens passes: bytes that wait are sent again twice in a
/// second, each question leaves after at least an eighth of silence_max, and only a peer that polls answers it.
class path_watch {
 public:
  static constexpr std::uint32_t answers_max = 3;
  enum class advice : std::uint8_t { nothing, ask };

  explicit path_watch(std::chrono::nanoseconds silence_max) noexcept : silence_max_(silence_max) {}

  /// A datagram of the peer has been taken.
  void on_heard(time_point now) noexcept { begin_anew(now); }

  /// To be called now and then. `waiting`: bytes wait for the peer's acknowledgement.
  [[nodiscard]] advice look(bool waiting, time_point now) noexcept {
    if (!waiting || quiet_since_ == never) {
      begin_anew(now);
      return advice::nothing;
    }
    const auto patience = answers_ == 0 ? silence_max_ : silence_max_ / 8;
    if (asked_ || now - quiet_since_ < patience) return advice::nothing;
    asked_ = true;
    counts_ = true;
    return advice::ask;
  }

  /// The peer has answered. True: no datagram passes.
  [[nodiscard]] bool on_answer(time_point now) noexcept {
    if (!asked_) return false;
    asked_ = false;
    if (!counts_) return false;
    quiet_since_ = now;
    return ++answers_ >= answers_max;
  }

 private:
  void begin_anew(time_point now) noexcept {
    quiet_since_ = now;
    answers_ = 0;
    counts_ = false;
  }

  std::chrono::nanoseconds silence_max_;
  time_point quiet_since_ =
      never;                   // the last datagram or answer, or the last look when no bytes waited; never: no look
  std::uint32_t answers_ = 0;  // in a row
  bool asked_ = false;         // an answer is under way
  bool counts_ = false;        // and no datagram has come since the question
};

}  // namespace nacre::transport::udp
