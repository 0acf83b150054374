// SPDX-License-Identifier: Apache-2.0
// The calls of a rank that wait for their reply.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nacre/future.hpp>
#include <nacre/ids.hpp>

#include "am/request_slots.hpp"
#include "base/cache_line.hpp"
#include "base/rank_life.hpp"

namespace nacre {

class call_deadline;

/// The properties of a call that few calls have.
struct call_extras {
  call_deadline* limit = nullptr;    ///< owned by pending_calls while its timer is set
  std::vector<rank_id> watchers{};   ///< they run the call's handler, and are told when it is given up, and is over
  std::optional<double> too_late{};  ///< of a call that has ended: the seconds of its deadline, which had passed
};

/// Names each waiting call by a request id. Any thread.
///
/// | state of a call | open | reply comes | deadline comes, or the caller gives up | its turn comes on this rank |
/// |---|---|---|---|---|
/// | none | waiting | refused | - | runs |
/// | waiting | - | none; the state gets the result | expired, or cancelled; the state gets an error | runs |
/// | expired | - | none; the reply is dropped | - | runs |
/// | cancelled | - | none; the reply is dropped | - | none; does not run |
///
/// A reply behind the deadline counts as none, also where the timer has not fired yet: the state gets that error.
///
/// Each request gets one reply, so no call stays expired or cancelled while the job goes on.
class pending_calls {
 public:
  ~pending_calls();

  /// The code that answers a call: a handler, or the extension module that a command is for.
  enum class answers : std::uint8_t { handler, command };
  /// Keeps a reference to `state` until its reply comes, and tells it its number. Never returns 0.
  [[nodiscard]] std::uint64_t open(detail::future_state& state, answers answers = answers::handler);
  /// Returns the reference, and ends the deadline; null when no call with that id waits. `extras`: gets those of the
  /// call, if it has any. The reply comes too late if a deadline has passed, though it has not fired yet.
  [[nodiscard]] detail::future_state* close(std::uint64_t number, std::unique_ptr<call_extras>& extras);
  [[nodiscard]] detail::future_state* close(std::uint64_t number) {
    std::unique_ptr<call_extras> ignored;
    return close(number, ignored);
  }
  /// Sets the time limit of a waiting call. False when the call does not wait any more; `limit` is still the caller's
  /// then. `set` sets the timer. Its exceptions leave everything as it was.
  bool set_deadline(std::uint64_t number, std::unique_ptr<call_deadline>& limit, const std::function<void()>& set);

  enum class end : std::uint8_t { expired, cancelled };
  /// Gives a call up; its reply may still come, and is dropped then. Returns the reference as close does. `watchers`:
  /// gets the ranks that are to be told.
  [[nodiscard]] detail::future_state* give_up(std::uint64_t number, end end, std::vector<rank_id>& watchers);
  /// A reply has come that close did not find a call for. True when the call was given up; the id is not valid any
  /// more. `extras`: as in close.
  bool forget(std::uint64_t number, std::unique_ptr<call_extras>& extras);
  bool forget(std::uint64_t number) {
    std::unique_ptr<call_extras> ignored;
    return forget(number, ignored);
  }
  /// Whether a call has been given up, or its deadline has passed.
  [[nodiscard]] bool is_given_up(std::uint64_t number) const;
  enum class standing : std::uint8_t { waits, given_up, over };
  /// Notes that the handler of the call runs on the rank `watcher`, which is to be told when the call is given up and
  /// when it is over. Returns the present state of the call. `over`: no call has this id, and the result is all that
  /// the watcher is told.
  [[nodiscard]] standing watch(std::uint64_t number, rank_id watcher);
  /// Whether any call is cancelled. Cheap; a hint on threads other than the one that cancels.
  [[nodiscard]] bool any_cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed) != 0; }
  /// Before a call of this rank runs on this rank. True when it was cancelled, so that it must not run; the id is not
  /// valid any more, and no reply may come.
  bool take_cancelled(std::uint64_t number);

  /// Calls that wait.
  [[nodiscard]] std::size_t count() const;
  /// The life of the rank, by which futures that outlive the rank know that it has ended.
  [[nodiscard]] rank_life& life() noexcept { return life_; }
  /// Number of waiting calls that extension modules answer, among the first `slots_max` slots.
  [[nodiscard]] std::size_t commands(std::size_t slots_max) const;
  /// Calls visit_one(number, state) for waiting calls, among the first `slots_max` slots. `visit_one` must not call
  /// this object.
  void visit(std::size_t slots_max,
             const std::function<void(std::uint64_t, const detail::future_state&)>& visit_one) const;

 private:
  struct call {
    detail::future_state* state = nullptr;  // null when given_up
    call_extras* extras = nullptr;          // owned; null for most
    std::optional<end> given_up{};
    answers answerer = answers::handler;
  };
  static detail::future_state* take(call& ended) noexcept;
  static call_extras& extras_of(call& waiting);
  static bool is_given_up(const call& one);

  rank_life life_;
  mutable std::mutex mutex_;
  request_slots<call> calls_;                                        // under mutex_
  std::size_t given_up_ = 0;                                         // under mutex_: expired or cancelled
  alignas(cache_line_bytes) std::atomic<std::size_t> cancelled_{0};  // written under mutex_; every handler reads it
};

}  // namespace nacre
