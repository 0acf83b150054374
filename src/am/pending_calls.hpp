// SPDX-License-Identifier: Apache-2.0
// The calls of a rank that wait for their reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <nacre/future.hpp>

namespace nacre {

/// Names each waiting call by a request id that goes with the request and comes back with the reply. An id is never
/// valid twice, so a forged or repeated reply finds nothing. Any thread.
class pending_calls {
 public:
  ~pending_calls();

  /// Keeps a reference to `state` until its reply comes. Never returns 0.
  [[nodiscard]] std::uint64_t open(detail::future_state& state);
  /// Returns the reference, or null when no call has that id.
  [[nodiscard]] detail::future_state* close(std::uint64_t number);
  [[nodiscard]] std::size_t count() const;
  /// Calls visit(number, state) for waiting calls, among the first `slots_max` slots. `visit_one` must not call this
  /// object.
  void visit(std::size_t slots_max,
             const std::function<void(std::uint64_t, const detail::future_state&)>& visit_one) const;

 private:
  struct slot {
    detail::future_state* state = nullptr;
    std::uint32_t generation = 1;
  };
  mutable std::mutex mutex_;
  std::vector<slot> slots_;          // under mutex_
  std::vector<std::uint32_t> free_;  // under mutex_
};

}  // namespace nacre
