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
  /// `what`: a handler whose argument it is, or the class of an object that has moved. Prints once for each.
  void note(rank_id own, rank_id source, std::string_view what);

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> told_;  // under mutex_
};

}  // namespace nacre
