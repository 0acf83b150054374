// SPDX-License-Identifier: Apache-2.0
// A line on standard error when bytes with addresses inside have come from elsewhere.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <nacre/ids.hpp>

namespace nacre {

/// A class without `serialize` that is trivially copyable travels as its bytes, pointers included. The program that
/// uses one where it does not point to anything ends with a signal, so the line is printed before. Any thread.
class address_warnings {
 public:
  /// `by_pointer`: values between ranks are not packed, so they still point to what they did. `always`: also what a
  /// rank sends to itself counts as packed.
  address_warnings(rank_id own, bool by_pointer, bool always) noexcept
      : own_(own), by_pointer_(by_pointer), always_(always) {}

  /// Something that holds_addresses has come from that rank. `what`: the argument of a handler, or an object of a
  /// class. Prints once for each.
  void note(rank_id source, std::string_view what);

 private:
  const rank_id own_;
  const bool by_pointer_, always_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> told_;  // under mutex_
};

}  // namespace nacre
