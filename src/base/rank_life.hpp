// SPDX-License-Identifier: Apache-2.0
// Whether the job of a rank of this process goes on, for what a program may keep longer.
#pragma once

#include <cstdint>

namespace nacre {

/// A rank of this process from its start to the end of its job. A future may outlive both: it has the number of its
/// rank's life, and asks `is_over` before it touches anything of the rank.
class rank_life {
 public:
  rank_life();
  ~rank_life() { end(); }
  rank_life(const rank_life&) = delete;
  rank_life& operator=(const rank_life&) = delete;

  /// Never 0. No two lives that go on at the same time have one number; after 2^32 lives numbers come again.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// The job has ended; further calls do nothing. The thread of the rank's main.
  void end() noexcept;

  /// Any thread. Cheap until the first life of this process is over.
  [[nodiscard]] static bool is_over(std::uint32_t number) noexcept;

 private:
  std::uint32_t number_;
  bool ended_ = false;
};

}  // namespace nacre
