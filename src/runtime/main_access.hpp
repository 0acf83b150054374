// SPDX-License-Identifier: Apache-2.0
// What a rank's main holds while it must not wait.
#pragma once

namespace nacre {

/// Main's thread only.
class main_access {
 public:
  /// Main begins or ends its access to an object. In between it must not wait, since handlers may wait for the object.
  void hold(bool begins) noexcept { holds_ = begins; }
  [[nodiscard]] bool holds() const noexcept { return holds_; }
  /// A function of the program begins or ends to see the elements of a container of this rank. In between main may wait
  /// for room to send, but for nothing else, since operations on the container are set aside.
  void iterate(bool begins) noexcept { iterations_ += begins ? 1 : -1; }
  [[nodiscard]] bool may_wait() const noexcept { return !holds_ && iterations_ == 0; }
  /// Throws usage_error while main has access to an object, or iterates.
  void must_not_hold() const;

 private:
  bool holds_ = false;
  int iterations_ = 0;
};

}  // namespace nacre
