// SPDX-License-Identifier: Apache-2.0
// What a coroutine awaits that asks for messages of its object.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nacre/coroutine_run.hpp>
#include <nacre/next.hpp>
#include <nacre/signature.hpp>
#include <nacre/work.hpp>

namespace nacre::detail {

/// Suspends a coroutine until its object has got messages to F; lives in the coroutine frame and is the work that
/// resumes it.
template <auto F, class T>
class messages_awaiter : public message_waiter, public work {
  static_assert(is_awaited<typename traits<F>::result>,
                "ctx.next<F> is for member functions that return nacre::awaited<R>: other messages run when they come");

 public:
  using result = typename task_value<typename traits<F>::result>::type;
  static_assert(aligned_in_frame<result>, "a coroutine keeps what it awaits aligned to 16 bytes: return a std::vector");

  messages_awaiter(std::uint64_t step, std::size_t count, coroutine_run& run) noexcept
      : message_waiter{handler_of<F, T>().id.value(), step, count, &run, this}, work(&on_run) {}
  [[nodiscard]] bool await_ready() {
    if (!take_kept_messages(*this, key_of<T>())) return false;
    yields_ = coroutine->must_yield();
    return !yields_;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> suspended) {
    handle_ = suspended;
    coroutine->suspends();
    if (yields_) {
      make_runnable_last(coroutine->ctx.core(), coroutine->ctx.current_thread(), *this);
    } else {
      await_message(*this);
    }
    return true;  // another thread may have resumed and ended this coroutine already
  }

 protected:
  /// Runs F for the oldest message that the coroutine has got.
  result run_oldest();

 private:
  static void on_run(work& self, thread_context& thread) {
    auto& awaiter = static_cast<messages_awaiter&>(self);
    awaiter.coroutine->resume(awaiter.handle_, thread);
  }
  std::coroutine_handle<> handle_;
  bool yields_ = false;
};

/// Of one message.
template <auto F, class T>
struct next_awaiter final : messages_awaiter<F, T> {
  using messages_awaiter<F, T>::messages_awaiter;
  typename messages_awaiter<F, T>::result await_resume() {
    if (this->given_up) throw_given_up(*this);
    return this->run_oldest();
  }
};

/// Of some of several messages.
template <auto F, class T, class Results>
struct next_some_awaiter final : messages_awaiter<F, T> {
  next_some_awaiter(const next_some_request<F, T, Results>& request, coroutine_run& run) noexcept
      : messages_awaiter<F, T>(request.request.each.tag, request.request.count, run), results(request.results) {}
  std::size_t await_resume() {
    if (this->given_up) throw_given_up(*this);
    try {
      while (!this->messages.empty()) {
        if constexpr (std::is_void_v<Results>) {
          this->run_oldest();
        } else {
          results->push_back(this->run_oldest());
        }
      }
    } catch (...) {
      keep_again(*this);
      throw;
    }
    return this->missing;
  }
  Results* results;
};

}  // namespace nacre::detail
