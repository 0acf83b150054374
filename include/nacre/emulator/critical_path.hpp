// SPDX-License-Identifier: Apache-2.0
// The chain of handlers that made an emulation take as long as it did.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/emulated_machine.hpp>

namespace nacre {

/// A handler on the critical path.
struct critical_step {
  coordinates at;  ///< its node
  std::uint32_t thread = 0;
  std::string handler;                ///< its name; "the start function" for that
  std::chrono::nanoseconds start{0};  ///< when it began
  std::chrono::nanoseconds cost{0};   ///< how long it ran
  /// From the end of the handler before it on the path: its message was under way, or delayed by a timer. 0 for a
  /// handler that waited for its thread: the one before it on the path is the one that the thread ran.
  std::chrono::nanoseconds before{0};
  bool waited = false;  ///< for its thread

  /// Its part of the path's length.
  [[nodiscard]] std::chrono::nanoseconds part() const noexcept { return before + cost; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(at, thread, handler, start, cost, before, waited);
  }
};

/// The critical path of an emulation: it ends with the handler that ended last, and before each handler stands the one
/// that made it begin no sooner, which is the sender of its message, or the one that kept its thread busy. Of handlers
/// that end last at one time, the path takes that of the node with the lowest number.
struct critical_path {
  bool known = false;                     ///< it was asked for, and the handlers were not too many to be recorded
  std::uint64_t handlers = 0;             ///< on the path
  std::uint64_t waits = 0;                ///< of these, had to wait for their thread
  std::chrono::nanoseconds running{0};    ///< costs of all of them
  std::chrono::nanoseconds under_way{0};  ///< between them; both together are the path's length
  std::vector<critical_step> longest{};   ///< those with the longest parts, 20 at most, in the order of time

  template <class Archive>
  void serialize(Archive& ar) {
    ar(known, handlers, waits, running, under_way, longest);
  }
};

}  // namespace nacre
