// SPDX-License-Identifier: Apache-2.0
// A line on standard error when bytes with addresses inside have come from elsewhere.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre {

/// A trivially copyable class without `serialize` travels as its bytes, pointers included. A program that follows such
/// a pointer on another rank ends with a signal, so this class prints a warning before. Any thread.
class address_warnings {
 public:
  /// `by_pointer`: ranks hand over values unpacked, so their pointers stay valid. `always`: warns also of values that a
  /// rank sends to itself. `count`: number of handlers, or of classes.
  address_warnings(rank_id own_rank, bool by_pointer, bool always, std::size_t count)
      : rank_(own_rank), by_pointer_(by_pointer), always_(always), told_(count) {}

  /// Notes that values which holds_addresses have come from `source`. Prints once for each `number`, which is that of a
  /// handler or class. `text` and `name`: "an argument of" and a handler, or "an object of" and a class.
  void note(rank_id source, std::size_t number, std::string_view text, std::string_view name) {
    if (!always_ && (source == rank_ || by_pointer_)) return;
    if (!told_[number].load(std::memory_order_relaxed) && !told_[number].exchange(true, std::memory_order_relaxed)) {
      print(source, text, name);  // relaxed: a flag, and no data behind it
    }
  }

 private:
  void print(rank_id source, std::string_view text, std::string_view name) const;

  const rank_id rank_;
  const bool by_pointer_, always_;
  std::vector<std::atomic<bool>> told_;  // by number
};

}  // namespace nacre
