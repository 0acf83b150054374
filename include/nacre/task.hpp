// SPDX-License-Identifier: Apache-2.0
// Coroutine handlers, which wait without blocking their worker.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/coroutine_run.hpp>
#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/next_awaiter.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

namespace detail {

/// Finishes the coroutine's message: its access to the object ends, and quiescence counts it as done. `seconds`: what a
/// coroutine that has waited has taken; 0 for others, or if that is not known.
void coroutine_finished(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                        double seconds = 0);
[[nodiscard]] thread_context& thread_of(const context& ctx) noexcept;
void post_reply(engine& core, thread_context& thread, const message_header& request, message_ptr reply);
void handler_failed(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                    handler_phase handler_phase);
template <class R>
message_ptr make_reply(R&& value);

struct promise_base {
  coroutine_run* run = nullptr;          ///< set before the first resumption
  std::coroutine_handle<> continuation;  ///< the coroutine that awaits this one; null for the handler itself
  std::exception_ptr error;

  struct at_end {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      promise_base& promise = ended.promise();
      if (promise.continuation) return promise.run->transfer_to(promise.continuation);
      promise.run->finish();  // destroys the coroutine, which must not be accessed any more
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  at_end final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

/// Suspends a coroutine until a result arrives; lives in the coroutine's frame and is the work that resumes it.
template <class T>
class future_awaiter final : public waiter, public work {
  static_assert(aligned_in_frame<T>,
                "a coroutine keeps what it awaits in memory that is aligned to 16 bytes, and this result needs more: "
                "let the handler return it as a std::vector");

 public:
  future_awaiter(future<T> result, coroutine_run& run) noexcept
      : waiter{&on_result, &run}, work(&on_run), result_(std::move(result)) {}
  [[nodiscard]] bool await_ready() noexcept {
    if (!result_.ready()) return false;
    yields_ = coroutine->must_yield();
    return !yields_;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> suspended) {
    if (!result_.valid()) throw usage_error("co_await on a future that has no call");
    handle_ = suspended;
    coroutine->suspends();
    if (yields_) {
      make_runnable_last(coroutine->ctx.core(), coroutine->ctx.current_thread(), *this);
      return true;  // another thread may have resumed and ended this coroutine already
    }
    if (result_.state()->await(*this)) return true;  // likewise
    part_begins(*coroutine);
    return false;
  }
  T await_resume() { return result_.take(); }

 private:
  static void on_result(waiter& self, thread_context& thread) {
    auto& awaiter = static_cast<future_awaiter&>(self);
    make_runnable(awaiter.coroutine->ctx.core(), thread, awaiter);
  }
  static void on_run(work& self, thread_context& thread) {
    auto& awaiter = static_cast<future_awaiter&>(self);
    awaiter.coroutine->resume(awaiter.handle_, thread);
  }
  future<T> result_;
  std::coroutine_handle<> handle_;
  bool yields_ = false;
};

}  // namespace detail

/// The return type of a coroutine handler, and of coroutines that it awaits. A suspended handler keeps its access to
/// the object that it runs on, but no worker. `context&` and `*this` stay valid; arguments are taken by value.
template <class T>
class [[nodiscard]] task {
 public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;

  explicit task(handle h) noexcept : handle_(h) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (handle_) handle_.destroy();
  }

  /// For the runtime: takes over the coroutine.
  [[nodiscard]] handle detach() noexcept { return std::exchange(handle_, nullptr); }

  // co_await of a task inside a task runs it at once, on the same worker.
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  /// For the compiler: the awaiting coroutine goes on when this one has ended.
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) {
    if (!handle_ || handle_.done()) throw usage_error("co_await on a task that was moved from, or has been awaited");
    handle_.promise().continuation = awaiting;
    detail::coroutine_run* const run = awaiting.promise().run;
    handle_.promise().run = run;
    return run->transfer_to(handle_);
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  handle handle_;
};

namespace detail {

template <class T>
struct promise_with_value : promise_base {
  static_assert(aligned_in_frame<T>,
                "a coroutine keeps its result in memory that is aligned to 16 bytes, and this one needs more: return "
                "it as a std::vector, or from a handler that is no coroutine");
  std::optional<T> value;
  template <class U = T>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};
template <>
struct promise_with_value<void> : promise_base {
  void return_void() noexcept {}
  void take() {
    if (error) std::rethrow_exception(error);
  }
};

template <class T>
class coroutine_run_of final : public coroutine_run {
 public:
  using coroutine_run::coroutine_run;
  void start(typename task<T>::handle coroutine) {
    handle_ = coroutine;
    handle_.promise().run = this;
    part_begins(*this);
    handle_.resume();
  }

  void finish() override {
    engine& core = ctx.core();
    thread_context& thread = thread_of(ctx);
    try {
      if constexpr (std::is_void_v<T>) {
        handle_.promise().take();
        if (request_.reply != 0) post_reply(core, thread, request_, make_message(0));
      } else {
        T value = handle_.promise().take();
        if (request_.reply != 0) post_reply(core, thread, request_, make_reply(std::move(value)));
      }
    } catch (...) {
      handler_failed(core, thread, request_, handler_, handler_phase::running);
    }
    handle_.destroy();
    part_ends(*this);
    coroutine_finished(core, thread, request_, handler_, has_suspended() ? seconds : 0);
    delete this;
  }

 private:
  typename task<T>::handle handle_;
};

/// Keeps the message for the coroutine and returns the credit that it occupies at its sender. Otherwise ranks would
/// have no credit left to reply when all their coroutines wait for each other.
inline void keep_message(coroutine_run& in, message_ptr& m) noexcept {
  return_credit(*m);
  in.kept = std::move(m);
}

/// Runs a coroutine handler until it ends or waits for the first time. `keep` is its message, or null. Throws only
/// before the coroutine has begun.
template <class Make>
void start_coroutine(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                     message_ptr* keep, Make&& make) {
  using coroutine = std::invoke_result_t<Make, context&>;
  using value = typename task_value<coroutine>::type;
  auto run = std::make_unique<coroutine_run_of<value>>(core, thread, request, handler);
  const auto result = make(run->ctx).detach();
  if (!result) throw usage_error("a coroutine handler returned a task that has been moved from");
  if (keep != nullptr && *keep != nullptr) keep_message(*run, *keep);
  run.release()->start(result);
}

// In invoke.hpp.
template <auto F, class T>
task<typename results_of_n<typename messages_awaiter<F, T>::result>::type> await_n(next_n_request<F, T> request);

}  // namespace detail

/// For the compiler: what a coroutine handler may await, which are futures and tasks.
template <class T>
struct task<T>::promise_type : detail::promise_with_value<T> {
  task get_return_object() noexcept { return task(handle::from_promise(*this)); }
  /// co_await of a future suspends the handler until the result is there. It takes the result: a future that is named
  /// is empty afterwards, as after get().
  template <class U>
  auto await_transform(future<U>&& result) noexcept {
    return detail::future_awaiter<U>(std::move(result), *this->run);
  }
  template <class U>
  auto await_transform(future<U>& result) noexcept {
    return detail::future_awaiter<U>(std::move(result), *this->run);
  }
  template <auto F, class U>
  auto await_transform(detail::next_request<F, U> request) noexcept {
    return detail::next_awaiter<F, U>(request.tag, 1, *this->run);
  }
  template <auto F, class U, class Results>
  auto await_transform(detail::next_some_request<F, U, Results> request) noexcept {
    return detail::next_some_awaiter<F, U, Results>(request, *this->run);
  }
  template <auto F, class U>
  auto await_transform(detail::next_n_request<F, U> request) {
    return detail::await_n<F, U>(request);
  }
  template <class U>
  task<U>&& await_transform(task<U>&& inner) noexcept {
    return std::move(inner);
  }
  template <class U>
  task<U>&& await_transform(task<U>& inner) noexcept {
    return std::move(inner);
  }
};

}  // namespace nacre
