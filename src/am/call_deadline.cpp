// SPDX-License-Identifier: Apache-2.0
// Calls that end before their results come: at their deadlines, or because their callers give them up.
#include "am/call_deadline.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/core.hpp>

#include "am/am_engine.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

void call_deadline::on_due(timer& self, thread_context& thread) {
  const std::unique_ptr<call_deadline> own_call_deadline(&static_cast<call_deadline&>(self));
  std::vector<rank_id> watchers;
  detail::future_state* const state =
      own_call_deadline->calls_.give_up(own_call_deadline->call_, pending_calls::end::expired, watchers);
  if (state == nullptr) return;  // the reply has come meanwhile
  if (!watchers.empty())
    thread.messages().cancellations().tell(thread, watchers, own_call_deadline->call_, call_news::given_up);
  fail(*state, own_call_deadline->seconds_, thread);
}

void call_deadline::fail(detail::future_state& state, double seconds, thread_context& thread) {
  const std::string text = fmt::format("no result within {} s, the deadline of the call", seconds);
  state.complete_with_error(timeout_error(text), thread);
  state.release();
}

namespace detail {

void check_seconds(double seconds, const char* name) {
  if (seconds != seconds) throw usage_error(std::string(name) + " that is no number (NaN)");
}

void limit_call(thread_context& thread, future_state& result, double seconds) {
  am_engine& messages = thread.messages();
  worker_pool& pool = thread.pool();
  const auto due = pool.instant_after(seconds);
  if (due == std::chrono::nanoseconds::max()) return;  // never
  messages.commit(thread, [&] {
    auto limit = std::make_unique<call_deadline>(messages.calls(), pool.duties(), result.call_number(), seconds, due);
    call_deadline& self = *limit;
    messages.calls().set_deadline(result.call_number(), limit, [&] { pool.set_timer(self, due); });
  });
}

void cancel(thread_context& thread, future_state& state) {
  state.expect_no_waiter();  // so nothing is notified, and `thread` may be the thread context that the future began on
  if (state.call_number() == 0) {
    if (state.give_up(thread)) return;
    throw usage_error(
        "cancel of a transfer, or of a future for several: drop the future instead, which ends what can be ended");
  }
  am_engine& messages = thread.messages();
  const std::uint64_t number = state.call_number();
  std::vector<rank_id> watchers;
  future_state* const waiting = messages.calls().give_up(number, pending_calls::end::cancelled, watchers);
  if (waiting == nullptr) return;  // the reply has come meanwhile
  messages.cancellations().tell_soon(thread, std::move(watchers), number);
  waiting->complete_with_error("the call was cancelled by its caller", thread);
  waiting->release();
}

}  // namespace detail
}  // namespace nacre
