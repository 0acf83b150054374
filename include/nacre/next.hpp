// SPDX-License-Identifier: Apache-2.0
// Messages that wait in their object until a coroutine handler of the object asks for them.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/message.hpp>
#include <nacre/signature.hpp>
#include <nacre/work.hpp>

namespace nacre {

/// The return type of a member function that runs when a coroutine handler of its object asks for it by `ctx.next`:
///
///     nacre::awaited<> halo(std::uint64_t step, int side, std::vector<double> row);       // in struct cell
///     ctx.send<&cell::halo>(neighbour, step, side, row);                                  // as every message
///     co_await ctx.next<&cell::halo>(step);                                               // runs halo(step, ...) here
///
/// Messages to such a function are kept in the object, any number of them, in the order in which they come, and travel
/// with it. The value of the co_await is `R`. A caller (`call`) gets its result when the function has run. The function
/// ends by `return {};`, or by `return value;`.
///
/// A coroutine that waits for such a message when its object is to end goes on waiting: messages of other ranks may
/// still come. When nothing else can happen in the job, the co_await throws call_error, "the object ends".
template <class R>
class [[nodiscard]] awaited {
 public:
  template <class U>
  requires std::is_constructible_v<R, U&&>
  // NOLINTNEXTLINE(google-explicit-constructor): the function returns its value.
  awaited(U&& value) : value_(std::forward<U>(value)) {}
  /// For the runtime.
  [[nodiscard]] R take() { return std::move(value_); }

 private:
  R value_;
};
/// The result of a member that is awaited and returns nothing.
template <>
class [[nodiscard]] awaited<void> {
 public:
  void take() noexcept {}
};

class object_entry;

namespace detail {

class coroutine_run;

/// A coroutine handler that waits for messages of its object. It lives in the coroutine's frame.
struct message_waiter {
  std::uint32_t handler = 0;
  std::uint64_t tag = 0;
  std::size_t missing = 1;  ///< so many more are needed
  coroutine_run* coroutine = nullptr;
  work* resumption = nullptr;     ///< continues the coroutine
  message_list messages{};        ///< those that have come, in that order
  bool ready = false;             ///< it goes on with them
  bool given_up = false;          ///< the object is to end, nothing else can happen any more, and `messages` is empty
  object_entry* entry = nullptr;  ///< of the object, which the coroutine has; null before it has looked

  /// Takes a message. The coroutine goes on when it has all that it needs, or earlier when a caller waits for the
  /// result of this message.
  void take(message_ptr m) noexcept {
    ready = --missing == 0 || m->header.reply != 0;
    messages.push_back(std::move(m));
  }
  [[nodiscard]] bool waits() const noexcept { return !ready && !given_up; }
};

// src/runtime/api/next.cpp. All are called by the coroutine, which has its object.
/// Takes the oldest messages that are kept for the waiter, as many as it needs. False: it must wait. Throws usage_error
/// if the coroutine may not.
[[nodiscard]] bool take_kept_messages(message_waiter& waiter, const void* target_key);
/// The coroutine does not need what is left in `waiter.messages`: the object keeps it as before.
void keep_again(message_waiter& waiter);
/// Lets the object get messages until the waiter is ready. The coroutine may go on, on another thread, before this
/// returns.
void await_message(message_waiter& waiter);
/// The object of the coroutine.
[[nodiscard]] void* object_of(const message_waiter& waiter);
[[nodiscard]] context& context_of(const message_waiter& waiter) noexcept;
/// In a catch clause: tells the error to a caller that waits for a result.
void tell_caller(const message_waiter& waiter, const message_header& request);
void reply_to_caller(const message_waiter& waiter, const message_header& request, message_ptr reply);
/// Throws call_error: the coroutine has been told to give up.
[[noreturn]] void throw_given_up(const message_waiter& waiter);
/// Ends the job: the message does not decode.
[[noreturn]] void refuse_kept_message(engine& core, const message_header& request);
/// Gives back the credit that a message occupies at its sender, before the message is kept for as long as may be.
inline void return_credit(message& m) noexcept {
  if (!m.packed() || m.ops == nullptr) return;
  m.ops->destroy(m);
  m.ops = nullptr;
}

/// A request for the next message to F, to be awaited.
template <auto F, class T>
struct next_request {
  std::uint64_t tag = 0;
};
/// A request for the next `count` of them.
template <auto F, class T>
struct next_n_request {
  next_request<F, T> each;
  std::size_t count = 0;
};
/// Awaits some of the messages of a next_n_request. The value is how many are still missing. `results` is null if F has
/// no result.
template <auto F, class T, class Results>
struct next_some_request {
  next_n_request<F, T> request;
  Results* results;
};

/// The results of next_n.
template <class R>
struct results_of_n {
  using type = std::vector<R>;
};
template <>
struct results_of_n<void> {
  using type = void;
};

}  // namespace detail
}  // namespace nacre
