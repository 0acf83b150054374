// SPDX-License-Identifier: Apache-2.0
// Coroutine handlers, which wait without blocking their worker.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

namespace detail {

/// For the trace: a coroutine that has waited continues, and has then suspended again or ended.
void resumption_begins(thread_context& on, handler_id handler);
void resumption_ended(thread_context& on);

/// The state of a coroutine handler that outlives its message: the context, and the request to answer. It deletes
/// itself when the coroutine ends.
class coroutine_run {
 public:
  coroutine_run(engine& core, thread_context& on, const message_header& request, handler_id handler) noexcept
      : ctx(core, on, request), request_(request), handler_(handler) {}
  virtual ~coroutine_run() = default;

  context ctx;
  message_ptr kept;  ///< the message that parameters of the coroutine are views into; null if there are none

  /// Continues the coroutine on the thread context `on`.
  void resume(std::coroutine_handle<> suspended, thread_context& on) {
    ctx.move_to(on);
    resumption_begins(on, handler_);
    suspended.resume();  // may delete this object
    resumption_ended(on);
  }

  /// The header of the message that started the coroutine, and its handler.
  [[nodiscard]] const message_header& request() const noexcept { return request_; }
  [[nodiscard]] handler_id handler() const noexcept { return handler_; }

  /// Whether a coroutine that found all its results ready must now let other work run. Without this, a coroutine
  /// that polls memory of its own rank could keep its worker from the work that changes the memory.
  [[nodiscard]] bool must_yield() noexcept { return ++ready_in_a_row_ % ready_in_a_row_max == 0; }

  /// The outermost coroutine has ended on the thread context of `ctx`: replies, releases the object, and deletes this.
  virtual void finish() = 0;

 private:
  static constexpr std::uint32_t ready_in_a_row_max = 64;
  std::uint32_t ready_in_a_row_ = 0;

 protected:
  message_header request_;
  handler_id handler_;
};

/// Finishes the coroutine's message: its access to the object ends, and quiescence counts it as done.
void coroutine_finished(engine& core, thread_context& on, const message_header& request, handler_id handler);
void make_runnable(engine& core, thread_context& by, work& item);
[[nodiscard]] thread_context& thread_of(const context& ctx) noexcept;
void post_reply(engine& core, thread_context& on, const message_header& request, message_ptr reply);
void handler_failed(engine& core, thread_context& on, const message_header& request, handler_id handler,
                    handler_phase when);
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
      if (promise.continuation) return promise.continuation;
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
    if (yields_) {
      make_runnable(coroutine->ctx.core(), coroutine->ctx.current_thread(), *this);
      return true;  // another thread may have resumed and ended this coroutine already
    }
    return result_.state()->await(*this);  // if true, another thread may have resumed and ended it already
  }
  T await_resume() { return result_.take(); }

 private:
  static void on_result(waiter& self, thread_context& by) {
    auto& awaiter = static_cast<future_awaiter&>(self);
    make_runnable(awaiter.coroutine->ctx.core(), by, awaiter);
  }
  static void on_run(work& self, thread_context& on) {
    auto& awaiter = static_cast<future_awaiter&>(self);
    awaiter.coroutine->resume(awaiter.handle_, on);
  }
  future<T> result_;
  std::coroutine_handle<> handle_;
  bool yields_ = false;
};

/// Suspends a coroutine until its object gets a message to F, and runs F then; lives in the coroutine frame and is the
/// work that resumes it.
template <auto F, class T>
class next_awaiter final : public message_waiter, public work {
  static_assert(is_awaited<typename traits<F>::result>,
                "ctx.next<F> is for member functions that return nacre::awaited<R>: other messages run when they come");

 public:
  using result = typename task_value<typename traits<F>::result>::type;

  next_awaiter(std::uint64_t step, coroutine_run& run) noexcept
      : message_waiter{handler_of<F, T>().id.value(), step, nullptr, &run, this}, work(&on_run) {}
  [[nodiscard]] bool await_ready() {
    if (!take_kept_message(*this, key_of<T>())) return false;
    yields_ = coroutine->must_yield();
    return !yields_;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> suspended) {
    handle_ = suspended;
    if (yields_) {
      make_runnable(coroutine->ctx.core(), coroutine->ctx.current_thread(), *this);
    } else {
      await_message(*this);
    }
    return true;  // another thread may have resumed and ended this coroutine already
  }
  result await_resume();

 private:
  static void on_run(work& self, thread_context& on) {
    auto& awaiter = static_cast<next_awaiter&>(self);
    awaiter.coroutine->resume(awaiter.handle_, on);
  }
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
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    handle_.promise().run = awaiting.promise().run;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  handle handle_;
};

namespace detail {

template <class T>
struct promise_with_value : promise_base {
  std::optional<T> value;
  template <class U>
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
    handle_.resume();
  }

  void finish() override {
    engine& core = ctx.core();
    thread_context& on = thread_of(ctx);
    try {
      if constexpr (std::is_void_v<T>) {
        handle_.promise().take();
        if (request_.reply != 0) post_reply(core, on, request_, make_message(0));
      } else {
        T value = handle_.promise().take();
        if (request_.reply != 0) post_reply(core, on, request_, make_reply(std::move(value)));
      }
    } catch (...) {
      handler_failed(core, on, request_, handler_, handler_phase::running);
    }
    handle_.destroy();
    coroutine_finished(core, on, request_, handler_);
    delete this;
  }

 private:
  typename task<T>::handle handle_;
};

/// Keeps the message for the coroutine and returns the credit that it occupies at its sender. Otherwise ranks would
/// have no credit left to reply when all their coroutines wait for each other.
inline void keep_message(coroutine_run& in, message_ptr& m) noexcept {
  if (m->packed() && m->ops != nullptr) {
    m->ops->destroy(*m);
    m->ops = nullptr;
  }
  in.kept = std::move(m);
}

/// Runs a coroutine handler until it ends or waits for the first time. `keep` is its message, or null. Throws only
/// before the coroutine has begun.
template <class Make>
void start_coroutine(engine& core, thread_context& on, const message_header& request, handler_id handler,
                     message_ptr* keep, Make&& make) {
  using coroutine = std::invoke_result_t<Make, context&>;
  using value = typename task_value<coroutine>::type;
  auto run = std::make_unique<coroutine_run_of<value>>(core, on, request, handler);
  const auto made = make(run->ctx).detach();
  if (!made) throw usage_error("a coroutine handler returned a task that has been moved from");
  if (keep != nullptr && *keep != nullptr) keep_message(*run, *keep);
  run.release()->start(made);
}

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
    return detail::next_awaiter<F, U>(request.tag, *this->run);
  }
  template <class U>
  task<U>&& await_transform(task<U>&& inner) noexcept {
    return std::move(inner);
  }
};

}  // namespace nacre
