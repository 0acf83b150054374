// SPDX-License-Identifier: Apache-2.0
// Messages that wait in their object until a coroutine handler of the object asks for them.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

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

namespace detail {

class coroutine_run;

/// A coroutine handler that waits for a message of its object. It lives in the coroutine's frame.
struct message_waiter {
  std::uint32_t handler = 0;
  std::uint64_t tag = 0;
  message_ptr message{};  ///< set before the coroutine goes on
  coroutine_run* coroutine = nullptr;
  work* resumption = nullptr;  ///< continues the coroutine
};

// src/runtime/api_next.cpp. All are called by the coroutine, which has its object.
/// Takes the oldest message that is kept for the waiter. False: there is none. Throws usage_error if the coroutine may
/// not wait.
[[nodiscard]] bool take_kept_message(message_waiter& by, const void* target_key);
/// Lets the object get messages until the one comes. The coroutine may go on, on another thread, before this returns.
void await_message(message_waiter& by);
/// The object of the coroutine.
[[nodiscard]] void* object_of(const message_waiter& by);
[[nodiscard]] context& context_of(const message_waiter& by) noexcept;
/// In a catch clause: tells the error to a caller that waits for a result.
void tell_caller(const message_waiter& by, const message_header& request);
void reply_to_caller(const message_waiter& by, const message_header& request, message_ptr reply);
[[noreturn]] void refuse_kept_message(const message_waiter& by, const message_header& request);

/// A request for the next message to F, to be awaited.
template <auto F, class T>
struct next_request {
  std::uint64_t tag = 0;
};

}  // namespace detail
}  // namespace nacre
