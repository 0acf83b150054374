// SPDX-License-Identifier: Apache-2.0
// A fence between two threads of which one passes it often and at no cost, and the other seldom, by a system call.
#pragma once

#include <atomic>

namespace nacre {

/// Orders a store before the loads that follow it, on two threads that each store one flag and then load the other's.
/// If one of them calls `light` between the two, and the other `heavy`, then at least one sees the store of the other.
/// The system makes every running thread of the process pass a full fence during `heavy` (Linux: membarrier); where it
/// cannot, both are ordinary full fences. Source: user-space RCU, Desnoyers et al., IEEE TPDS 2012.
class asymmetric_fence {
 public:
  static void light() noexcept {
    if (by_system_) [[likely]] {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full();
    }
  }
  /// Some tenths of a microsecond and more, with the number of processors on which threads of this process run.
  static void heavy() noexcept;

 private:
  static void full() noexcept;
  static bool ask_system() noexcept;
  static const bool by_system_;  // false while the program starts, with one thread
};

}  // namespace nacre
