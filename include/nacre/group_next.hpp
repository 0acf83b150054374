// SPDX-License-Identifier: Apache-2.0
// Main waits for messages to its own rank's object of a group.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/future.hpp>
#include <nacre/group.hpp>
#include <nacre/handler.hpp>
#include <nacre/message.hpp>
#include <nacre/next.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>
#include <nacre/work.hpp>

namespace nacre {

namespace detail {

/// The messages among which main asks for one.
struct group_key {
  std::uint32_t group = 0;
  std::uint32_t handler = 0;  ///< the row of the member_handler
  std::uint64_t tag = 0;      ///< the first argument; 0 where that is no integer
  friend auto operator<=>(const group_key&, const group_key&) = default;
};

/// A message that main has asked for, until it has come and its handler has run. The future and, while it waits, the
/// rank's table of requests hold a reference each.
class group_request : public work {
 public:
  group_request(engine& core, const group_key& key) noexcept;
  [[nodiscard]] engine& core() const noexcept { return core_; }
  [[nodiscard]] const group_key& key() const noexcept { return key_; }

  /// The message has come: runs its handler on this thread, completes the future, and gives up the table's reference.
  virtual void run_message(thread_context& thread, message_ptr m) = 0;
  /// No message will come: completes the future with an error, and gives up the table's reference.
  virtual void fail(const std::string& reason, thread_context& thread) = 0;
  /// The rank ends: gives up the table's reference.
  virtual void drop() noexcept = 0;

  message_ptr message{};  ///< a message that had come before main asked, until a worker runs its handler
  // These members belong to the rank's table of requests, under its mutex.
  group_request* next = nullptr;
  group_request* previous = nullptr;
  bool waits = false;

 protected:
  ~group_request() = default;

 private:
  engine& core_;
  const group_key key_;
};

// src/runtime/api/group_next.cpp.
/// Gives the oldest message that is kept for the request to a worker, or lets the request wait for the next one. Main's
/// thread. Throws usage_error when there is no such group.
void ask_for_message(thread_context& thread, group_request& request, const group_type& type);
/// True: the request waited, does no more, and the caller has the table's reference. Any thread.
[[nodiscard]] bool withdraw_request(group_request& request) noexcept;
/// Runs the handler of a message for main's oldest request with that key, or keeps the message.
void give_to_main(engine& core, thread_context& thread, const group_key& key, message_ptr m);
/// Fails the call of a message: main gets its result, which cannot be copied.
void refuse_caller(engine& core, thread_context& thread, const message_header& request);
/// In a catch clause: what the handler threw, as the future of its result tells it.
[[nodiscard]] call_error error_of_thrown(engine& core, handler_id handler);

template <class Handler>
inline constexpr bool is_member_handler = false;
template <auto F, class T>
inline constexpr bool is_member_handler<member_handler<F, T>> = true;

/// Reads the key of a packed or a live message to a member of a group. False: its bytes are too few.
template <auto Member>
[[nodiscard]] bool read_group_key(message& m, group_key& key) {
  using values = typename traits<Member>::values;
  constexpr bool tagged = [] {
    if constexpr (std::tuple_size_v < values >> 1) return std::is_integral_v<std::tuple_element_t<1, values>>;
    return false;
  }();
  if (m.packed()) {
    reader in(m.payload());
    in(key.group);
    if constexpr (tagged) {
      std::tuple_element_t<1, values> number{};
      in(number);
      key.tag = static_cast<std::uint64_t>(number);
    }
    return in.ok();
  }
  const values& arguments = body_of<values>::values(m);
  key.group = std::get<0>(arguments);
  if constexpr (tagged) key.tag = static_cast<std::uint64_t>(std::get<1>(arguments));
  return true;
}

/// The message of an awaited member F of a group has come to its rank.
template <auto Member, auto F, class T>
outcome take_for_main(engine& core, thread_context& thread, message_ptr& m, handler_id self, member_handler<F, T>) {
  group_key key{.handler = self.value()};
  if (!read_group_key<Member>(*m, key)) return outcome::malformed;
  try {
    static_cast<void>(local_member(core, key.group, group_type_of<T>));
    give_to_main(core, thread, key, std::move(m));
  } catch (...) {
    if (m == nullptr) throw;
    handler_failed(core, thread, m->header, self, handler_phase::running);
  }
  return outcome::done;
}

/// The state of the future that main has.
template <auto F, class T>
class group_next final : public future_value<result_of<F>>, public group_request {
  static constexpr member_handler<F, T> member{};
  using result = result_of<F>;
  using shape = traits<member_handler<F, T>{}>;

 public:
  group_next(engine& core, std::uint32_t group, std::uint64_t step) noexcept
      : group_request(core, {group, handler_of<member_handler<F, T>{}>().id.value(), step}) {}
  void begin(thread_context& thread) {
    this->acquire();
    try {
      ask_for_message(thread, *this, group_type_of<T>);
    } catch (...) {
      this->release();
      throw;
    }
  }

  void run_message(thread_context& thread, message_ptr m) override {
    const message_header request = m->header;
    try {
      if (m->packed()) {
        run_packed(thread, request, m);
      } else {
        run(thread, request, std::move(body_of<typename shape::values>::values(*m)));
      }
    } catch (...) {
      if (request.reply != 0)
        handler_failed(core(), thread, request, handler_id(key().handler), handler_phase::running);
      this->set_error(error_of_thrown(core(), handler_id(key().handler)));
    }
    this->complete(thread);
    drop();
  }
  void fail(const std::string& reason, thread_context& thread) override {
    this->complete_with_error(reason, thread);
    drop();
  }
  void drop() noexcept override { this->release(); }

 private:
  void run_packed(thread_context& thread, const message_header& request, message_ptr& m) {
    auto arguments = blank<typename shape::views>();
    reader in(m->payload());
    std::apply([&](auto&... argument) { (read_argument(in, argument), ...); }, arguments);
    if (!in.finish()) refuse_kept_message(core(), request);
    if constexpr (has_buffer<typename shape::views>) make_buffers_owning(arguments, m);
    run(thread, request, std::move(arguments));
  }
  template <class Arguments>
  void run(thread_context& thread, const message_header& request, Arguments&& arguments) {
    context ctx(core(), thread, request);
    auto product = call_handler<member_handler<F, T>{}, void>(ctx, nullptr, std::forward<Arguments>(arguments));
    if constexpr (std::is_void_v<result>) {
      if (request.reply != 0) post_reply(core(), thread, request, make_message(0));
    } else {
      result value = product.take();
      message_ptr reply;  // made before main's value and sent behind it, as both may throw
      if constexpr (std::is_copy_constructible_v<result>) {
        if (request.reply != 0) reply = make_reply(result(value));
      }
      this->set_value(std::move(value));
      if (reply != nullptr) {
        post_reply(core(), thread, request, std::move(reply));
      } else if (request.reply != 0) {
        refuse_caller(core(), thread, request);
      }
    }
  }
  void on_abandon() noexcept override {
    if (!this->outlives_job() && withdraw_request(*this)) this->release();
  }
  bool give_up(thread_context& thread) override {
    if (withdraw_request(*this)) fail("main has cancelled its request for the message", thread);
    return true;
  }
};

template <auto F, class T>
[[nodiscard]] future<result_of<F>> start_next(engine& core, thread_context& thread, std::uint32_t group,
                                              std::uint64_t step) {
  static_assert(is_awaited<typename traits<F>::result>,
                "rt.next<F> is for member functions that return nacre::awaited<R>: other messages run when they come");
  auto* const state = new group_next<F, T>(core, group, step);
  future<result_of<F>> result(core, thread, state);
  state->begin(thread);
  return result;
}

}  // namespace detail

template <auto F, class T>
future<detail::result_of<F>> runtime::next(group_ptr<T> group, std::uint64_t step) {
  using values = typename detail::traits<F>::values;
  if constexpr (std::tuple_size_v<values> == 0) {
    static_assert(std::tuple_size_v<values> != 0, "F has no parameter: write rt.next<F>(group)");
  } else {
    static_assert(std::is_integral_v<std::tuple_element_t<0, values>>,
                  "next<F>(group, step) compares the first parameter of F with the step, so it is an integer");
  }
  return detail::start_next<F, T>(*core_, *thread_, group.number(), step);
}

template <auto F, class T>
future<detail::result_of<F>> runtime::next(group_ptr<T> group) {
  using values = typename detail::traits<F>::values;
  if constexpr (std::tuple_size_v<values> != 0) {
    static_assert(!std::is_integral_v<std::tuple_element_t<0, values>>,
                  "the first parameter of F is an integer, which says the step: write rt.next<F>(group, step)");
  }
  return detail::start_next<F, T>(*core_, *thread_, group.number(), 0);
}

}  // namespace nacre
