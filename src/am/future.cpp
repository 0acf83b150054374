// SPDX-License-Identifier: Apache-2.0
// Completion of futures.
#include <nacre/future.hpp>

#include <utility>

namespace nacre::detail {

void future_state::complete_with(message& reply, lane& by) {
  if ((reply.header.flags & flag_failed) != 0) {
    const auto bytes = reply.payload();
    complete_with_error(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), by);
    return;
  }
  if (!take(reply)) error_ = "the reply does not decode as the type that the caller expects";
  complete(by);
}

void future_state::complete_with_error(std::string what, lane& by) {
  error_ = std::move(what);
  complete(by);
}

void future_state::complete(lane& by) {
  // acq_rel: publishes value and error to `ready`, and sees the waiter that `await` has published.
  if (state_.exchange(is_ready, std::memory_order_acq_rel) == is_awaited) waiter_->notify(*waiter_, by);
}

bool future_state::await(waiter& w) noexcept {
  waiter_ = &w;
  std::uint32_t expected = is_empty;
  // release: publishes the waiter to `complete`; acquire on failure: the value is there.
  return state_.compare_exchange_strong(expected, is_awaited, std::memory_order_acq_rel, std::memory_order_acquire);
}

}  // namespace nacre::detail
