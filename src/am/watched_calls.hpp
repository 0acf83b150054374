// SPDX-License-Identifier: Apache-2.0
// The calls of other ranks that handlers of this rank have asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <nacre/ids.hpp>

namespace nacre {

/// News of a call, which its rank tells the ranks that watch it.
enum class call_news : std::uint8_t {
  given_up,  ///< the result will be dropped
  over       ///< the reply has come: the handler has ended
};

/// The calls of other ranks that run here, as far as their handlers have asked about them. Any thread.
///
/// | state of a call | its handler asks | news: given up | news: over | its rank is gone |
/// |---|---|---|---|---|
/// | unknown | watched; the answer is `first` | - | - | - |
/// | watched | `waits` | given up | unknown | `given_up` |
/// | given up | `given_up` | - | unknown | `given_up` |
///
/// At `first` the asking thread tells the caller's rank that this one watches. That rank answers each such message by
/// `over` in the end, so no call stays here longer than a message's time behind its reply. News of a call that is
/// unknown are late: `given up` may come behind `over`.
class watched_calls {
 public:
  enum class answer : std::uint8_t { first, waits, given_up };
  /// The handler of a call of `source` asks.
  [[nodiscard]] answer ask(rank_id source, std::uint64_t call);
  void note(rank_id source, std::uint64_t call, call_news news);
  /// The calls of a rank count as given up from now on.
  void note_gone(rank_id source);
  /// Calls that are known.
  [[nodiscard]] std::size_t count() const;

 private:
  using name = std::pair<std::uint32_t, std::uint64_t>;  // the rank of the caller, and its number for the call

  mutable std::mutex mutex_;
  std::map<name, bool> calls_;    // under mutex_: whether given up
  std::set<std::uint32_t> gone_;  // under mutex_: ranks
};

}  // namespace nacre
