// SPDX-License-Identifier: Apache-2.0
// The result of a call that is still on its way.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/buffer.hpp>
#include <nacre/error.hpp>
#include <nacre/message.hpp>

namespace nacre {

class engine;
class thread_context;
namespace detail {
class future_state;
}

/// The call produced no value: the object does not exist, its handler threw, or the operation was refused. what() gives
/// the reason.
class call_error : public std::runtime_error {
 public:
  explicit call_error(const std::string& name, std::string type = {})
      : std::runtime_error(name), type_(std::move(type)) {}
  /// The C++ type of the exception that the handler threw, such as "std::out_of_range"; empty when none threw. Where
  /// one handler awaited another, it is the type of the exception that was thrown first.
  [[nodiscard]] const std::string& type() const noexcept { return type_; }

 private:
  friend class timeout_error;
  friend class absent_error;
  friend class detail::future_state;
  enum class kind : std::uint8_t { failed, timed_out, absent };
  std::string type_;
  kind kind_ = kind::failed;
};

/// The deadline of the call (with::deadline) has come before its result.
class timeout_error : public call_error {
 public:
  explicit timeout_error(const std::string& name) : call_error(name) { kind_ = kind::timed_out; }
};

/// There is no such object, element or key, or no longer; the handler has not run. Where a handler that was called got
/// this error and let it pass, its own caller gets a call_error: there was somebody to call.
class absent_error : public call_error {
 public:
  explicit absent_error(const std::string& name) : call_error(name) { kind_ = kind::absent; }
};

namespace detail {

class coroutine_run;

/// A callback for the arrival of a result: it wakes the application thread, or makes a coroutine runnable.
struct waiter {
  void (*notify)(waiter&, thread_context& thread);
  coroutine_run* coroutine = nullptr;  ///< the handler that awaits the result itself; null when there is none
};

/// The place where a result arrives. The caller makes it; the thread that handles the reply completes it, once.
///
/// | state | completed | awaited by w |
/// |---|---|---|
/// | empty | ready | awaited |
/// | awaited | ready, w notified | - |
/// | ready | - | ready, w goes on at once |
class future_state {
 public:
  future_state() = default;
  future_state(const future_state&) = delete;
  future_state& operator=(const future_state&) = delete;

  void acquire() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // acq_rel: pairs with the release by every other holder, so that the last holder sees all their writes.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Gives up the future: no thread will ask for the value any more.
  void abandon() noexcept {
    if (!ready()) on_abandon();
    release();
  }
  /// As abandon, for the part of a future for several, by its on_abandon or its destructor. A part may have parts in
  /// turn, to any depth: they are abandoned one after the other, by the outermost of these calls of a thread.
  void abandon_part() noexcept;
  /// As release, for the part of a future for several that is being destroyed: iterates, as abandon_part does.
  void release_part() noexcept;

  /// acquire: pairs with the exchange in `complete`; the value is visible when this returns true.
  [[nodiscard]] bool ready() const noexcept { return state_.load(std::memory_order_acquire) == is_ready; }

  /// Decodes the reply and completes. A reply that cannot be decoded, or a value that throws, completes with an error.
  /// The result may take over the reply.
  void complete_with(message_ptr reply, thread_context& thread);
  void complete_with_error(std::string name, thread_context& thread);
  void complete_with_error(call_error error, thread_context& thread);

  /// Registers `w` to be notified. Returns false, without touching `w`, when the result is there already. One waiter
  /// only: throws usage_error when there is another one. The future's own thread only.
  [[nodiscard]] bool await(waiter& w);
  /// Takes the waiter back. False: the result is there, and the waiter has been notified, or is being notified. The
  /// future's own thread, or the waiter of another future of that thread.
  [[nodiscard]] bool withdraw() noexcept;
  /// Throws usage_error when something waits already.
  void expect_no_waiter() const;

  /// The registered waiter; null when there is none, or when the result is there. The waiter is certain to live only
  /// while no thread can complete the state.
  [[nodiscard]] const waiter* awaited_by() const noexcept {
    // acquire: pairs with the exchange in `await`.
    return state_.load(std::memory_order_acquire) == is_awaited ? waiter_ : nullptr;
  }

  /// The error of a state that is ready; null when there is a value.
  [[nodiscard]] const call_error* error() const noexcept { return error_ ? &*error_ : nullptr; }
  void throw_if_failed() const {
    if (error_) throw_error();
  }

  /// The request id of the call that the state belongs to; 0 when there is none. Own thread.
  [[nodiscard]] std::uint64_t call_number() const noexcept { return call_number_; }
  void set_call_number(std::uint64_t number) noexcept { call_number_ = number; }
  /// The rank that the future belongs to; see rank_life. 0 when it needs none. Own thread.
  void set_life(std::uint32_t number) noexcept { life_ = number; }
  /// Whether the job has ended in which the result would have come, so that nothing of the rank is left. Own thread.
  [[nodiscard]] bool outlives_job() const noexcept { return life_ != 0 && is_over(life_); }
  /// For results that no call brings: gives the result up, and completes with an error. False when that is impossible.
  virtual bool give_up(thread_context& /*by*/) { return false; }

 protected:
  virtual ~future_state() = default;
  /// Stores the value; false when the bytes are not a value of the type.
  virtual bool take(message_ptr& reply) = 0;
  /// Called when the future is dropped before the result is there. For results that go to the caller's memory, which
  /// may be freed afterwards.
  virtual void on_abandon() noexcept {}
  void complete(thread_context& thread);
  /// Completes while the future has not been handed out yet.
  void complete_unawaited() noexcept { state_.store(is_ready, std::memory_order_release); }  // pairs with ready
  /// In a catch clause: the error of a call, or of the program's own code that takes its result over.
  [[nodiscard]] static call_error error_of_result();
  void set_error(call_error error) { error_ = std::move(error); }

 private:
  friend class part_completion;
  enum : std::uint32_t { is_empty, is_awaited, is_ready };
  [[noreturn]] void throw_error() const;
  [[nodiscard]] static bool is_over(std::uint32_t life) noexcept;

  std::atomic<std::uint32_t> references_{1};
  std::atomic<std::uint32_t> state_{is_empty};
  waiter* waiter_ = nullptr;
  std::uint64_t call_number_ = 0;
  std::optional<call_error> error_;
  std::uint32_t life_ = 0;
  future_state* next_part_ = nullptr;  // link of the parts that wait to be abandoned
};

template <class T>
class future_value : public future_state {
 public:
  T&& value() noexcept { return std::move(*value_); }

 protected:
  void set_value(T value) { value_.emplace(std::move(value)); }

 private:
  bool take(message_ptr& reply) override {
    if (!reply->packed()) {
      value_.emplace(std::move(std::get<0>(*std::launder(reinterpret_cast<std::tuple<T>*>(reply->body())))));
      return true;
    }
    if constexpr (is_buffer<T>) {
      reader in(reply->payload());
      buffer_parts::read_view(in, value_.emplace());
      if (!in.finish()) return value_.reset(), false;
      buffer_parts::make_owning(*value_, reply, true);
    } else {
      expected<T, wire_error> value = unpack<T>(reply->payload());
      if (!value) return false;
      value_.emplace(std::move(*value));
    }
    return true;
  }
  std::optional<T> value_;
};

template <>
class future_value<void> : public future_state {
 public:
  void value() noexcept {}

 private:
  bool take(message_ptr& reply) override { return !reply->packed() || reply->header.payload_bytes == 0; }
};

/// The number of the life of the rank.
[[nodiscard]] std::uint32_t life_of(engine& core) noexcept;
/// Throws usage_error: the job has ended, and the result was not there.
[[noreturn]] void throw_outlives_job();
/// Runs other work of this rank until `state` is ready. Throws usage_error on a worker: handlers never block.
void wait_in_application(engine& core, thread_context& thread, future_state& state);
/// As wait_in_application, but ends when the time is over: after `seconds`, or at that instant of the rank's time.
enum class time_limit : std::uint8_t { duration, instant };
[[nodiscard]] bool wait_in_application(engine& core, thread_context& thread, future_state& state, time_limit limit,
                                       double seconds);
/// Gives up a result that is not there yet; see future::cancel.
void cancel(thread_context& thread, future_state& state);
/// Called when the application polls for something that is not there yet. Returns true when virtual time has advanced
/// meanwhile, so that other threads have run.
[[nodiscard]] bool look_again(const thread_context& thread);

}  // namespace detail

/// The result of one call, to be taken once. Movable; it may be destroyed before the result is there. It belongs to the
/// thread that made it. It may be kept longer than the job: a result that is there can be taken then, and waiting for
/// another one throws usage_error.
template <class T>
class future {
 public:
  future() = default;
  future(engine& core, thread_context& thread, detail::future_value<T>* state) noexcept
      : core_(&core), thread_(&thread), state_(state) {
    state->set_life(detail::life_of(core));
  }
  future(future&& other) noexcept
      : core_(other.core_), thread_(other.thread_), state_(std::exchange(other.state_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    future old(std::move(*this));  // its call is dropped now, and not when `other` ends
    core_ = other.core_;
    thread_ = other.thread_;
    state_ = std::exchange(other.state_, nullptr);
    return *this;
  }
  ~future() {
    if (state_ != nullptr) state_->abandon();
  }

  /// False for a future that was moved from, that gave its value, or that never had a call.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Whether the result is there. Under simulation, a main that asks again at the same instant makes virtual time
  /// advance a little, so that a polling loop ends.
  [[nodiscard]] bool ready() const {
    if (state_ == nullptr || state_->ready()) return state_ != nullptr;
    return thread_ != nullptr && !state_->outlives_job() && detail::look_again(*thread_) && state_->ready();
  }

  /// Application thread only: runs other work until the result is there. In a handler write `co_await` instead, or
  /// `take()` when it is ready(): a wait there throws usage_error, also for a result that is there, lest a handler
  /// works on one rank and not on two. Throws usage_error when the future is not valid().
  void wait() {
    if (state_ == nullptr)
      throw usage_error(
          "wait on a future that has no call (it was moved from, gave its value to get(), or never had one)");
    if (may_wait()) detail::wait_in_application(*core_, *thread_, *state_);
  }
  /// Application thread only: runs other work until the result is there, for at most so many seconds, which are virtual
  /// ones under simulation. Returns whether the result is there; the future is as before, so it can be waited for
  /// again. In a coroutine handler write `co_await nacre::when_any(f, ctx.sleep(seconds))`. Throws usage_error in a
  /// handler, for a future that is not valid(), and when the number is none.
  [[nodiscard]] bool wait_for(double seconds) { return wait_until(detail::time_limit::duration, seconds); }
  /// As wait_for, until rt.now() would return `instant`.
  [[nodiscard]] bool wait_until(double instant) { return wait_until(detail::time_limit::instant, instant); }
  /// Gives up a result that is not there yet: the future fails with call_error at once, and what arrives later is
  /// dropped. A handler that has not begun and that waits for a worker or for its object on this rank does not run any
  /// more. A handler that runs, or whose message has left for another rank, runs to its end: nothing stops it there.
  /// A sleep ends. No effect when the result is there. Throws usage_error for a future that is not valid() or that a
  /// when_any waits for, and for a transfer (put, get), which is ended by dropping its future.
  void cancel() {
    if (state_ == nullptr)
      throw usage_error(
          "cancel of a future that has no call (it was moved from, gave its value to get(), or never had one)");
    if (state_->ready()) return;
    if (thread_ == nullptr || state_->outlives_job()) detail::throw_outlives_job();
    detail::cancel(*thread_, *state_);
  }
  /// wait(), then the value; throws call_error when the call failed. The future is empty afterwards.
  T get() {
    wait();
    return take();
  }

  /// For the runtime: the engine and the thread context that may wait for it. Null for a result that was there from the
  /// beginning, and when the job has ended.
  [[nodiscard]] engine* core() const noexcept { return has_rank() ? core_ : nullptr; }
  [[nodiscard]] thread_context* thread() const noexcept { return has_rank() ? thread_ : nullptr; }
  /// For the runtime: a result that is there already, without a call.
  explicit future(detail::future_value<T>* state) noexcept : state_(state) {}

  /// For `co_await`; see task.hpp.
  [[nodiscard]] detail::future_state* state() const noexcept { return state_; }
  /// For the runtime: gives its reference to the caller; the future is empty afterwards.
  [[nodiscard]] detail::future_state* release_state() noexcept { return std::exchange(state_, nullptr); }
  /// The value of a ready future; throws call_error when the call failed.
  T take() {
    const future emptied = std::move(*this);
    emptied.state_->throw_if_failed();
    return emptied.state_->value();
  }

 private:
  bool wait_until(detail::time_limit limit, double seconds) {
    if (state_ == nullptr)
      throw usage_error(
          "wait on a future that has no call (it was moved from, gave its value to get(), or never had one)");
    return !may_wait() || detail::wait_in_application(*core_, *thread_, *state_, limit, seconds);
  }
  [[nodiscard]] bool has_rank() const noexcept {
    return core_ != nullptr && state_ != nullptr && !state_->outlives_job();
  }
  /// False: the result is there, and no rank to wait on. Throws usage_error when neither is.
  [[nodiscard]] bool may_wait() const {
    if (has_rank()) return true;
    if (!state_->ready()) detail::throw_outlives_job();
    return false;
  }

  engine* core_ = nullptr;
  thread_context* thread_ = nullptr;
  detail::future_value<T>* state_ = nullptr;
};

}  // namespace nacre
