// SPDX-License-Identifier: Apache-2.0
// A line on standard error when bytes with addresses inside have come from elsewhere.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre {

/// A class without `serialize` that is trivially copyable travels as its bytes, pointers included. The program that
/// uses one where it does not point to anything ends with a signal, so the line is printed before. Any thread.
class address_warnings {
 public:
  /// `by_pointer`: values between ranks are not packed, so they still point to what they did. `always`: also what a
  /// rank sends to itself counts as packed. `count`: of the handlers, or of the classes.
  address_warnings(rank_id own_rank, bool by_pointer, bool always, std::size_t count)
      : rank_(own_rank), by_pointer_(by_pointer), always_(always), told_(count) {}

  /// Something that holds_addresses has come from that rank, as often as it may be: prints once for each number.
  /// `text` and `name`: "an argument of" and a handler, or "an object of" and a class.
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
