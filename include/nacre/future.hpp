// SPDX-License-Identifier: Apache-2.0
// The result of a call that is still on its way.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/buffer.hpp>
#include <nacre/error.hpp>
#include <nacre/message.hpp>

namespace nacre {

class engine;
class thread_context;

/// The call did not produce a value: the object is gone, or its handler threw. what() says which.
class call_error : public std::runtime_error {
 public:
  explicit call_error(const std::string& what, std::string type = {})
      : std::runtime_error(what), type_(std::move(type)) {}
  /// The exception that the handler threw, as C++ spells it: "std::out_of_range". That of the first handler, where one
  /// awaited the other. Empty when none threw.
  [[nodiscard]] const std::string& type() const noexcept { return type_; }

 private:
  std::string type_;
};

namespace detail {

class coroutine_run;

/// What to do when a result has arrived: wakes the application thread, or makes a coroutine runnable.
struct waiter {
  void (*notify)(waiter&, thread_context& by);
  coroutine_run* coroutine = nullptr;  ///< the handler that awaits the result itself; null: something else does
};

/// The place where a result arrives: made by the caller, completed once by whatever thread context handles the reply.
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
    // acq_rel: pairs with the release of every other holder, so that the last one sees all their writes.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// The future is given up: nobody will ask for the value any more.
  void abandon() noexcept {
    if (!ready()) on_abandon();
    release();
  }

  /// acquire: pairs with the exchange in `complete`; the value is visible when this says true.
  [[nodiscard]] bool ready() const noexcept { return state_.load(std::memory_order_acquire) == is_ready; }

  /// Decodes the reply and completes; a reply that does not decode, or whose value throws, completes with an error. The
  /// result may take over the reply.
  void complete_with(message_ptr reply, thread_context& by);
  void complete_with_error(std::string what, thread_context& by);
  void complete_with_error(call_error error, thread_context& by);

  /// Registers `w` to be told; false when the result is there already, and then `w` is not touched. One waiter only.
  [[nodiscard]] bool await(waiter& w) noexcept;

  /// Null when nobody awaits the result, or it is there. The waiter lives on only while nothing can complete the state.
  [[nodiscard]] const waiter* awaited_by() const noexcept {
    // acquire: pairs with the exchange in `await`.
    return state_.load(std::memory_order_acquire) == is_awaited ? waiter_ : nullptr;
  }

  /// Of a state that is ready; null when there is a value.
  [[nodiscard]] const call_error* error() const noexcept { return error_ ? &*error_ : nullptr; }
  void throw_if_failed() const {
    // The copy has a text of its own, because the last holder of this one may be another thread.
    if (error_) throw call_error(error_->what(), error_->type());
  }

 protected:
  virtual ~future_state() = default;
  /// Stores the value; false when the bytes are not a value of the type.
  virtual bool take(message_ptr& reply) = 0;
  /// The future was dropped before the result was there. For results that go to the caller's memory: it may be gone
  /// next.
  virtual void on_abandon() noexcept {}
  void complete(thread_context& by);
  /// While the future has not been handed out yet.
  void complete_unawaited() noexcept { state_.store(is_ready, std::memory_order_release); }  // pairs with ready
  void set_error(call_error error) { error_ = std::move(error); }

 private:
  enum : std::uint32_t { is_empty, is_awaited, is_ready };

  std::atomic<std::uint32_t> references_{1};
  std::atomic<std::uint32_t> state_{is_empty};
  waiter* waiter_ = nullptr;
  std::optional<call_error> error_;
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

/// Runs other work of this rank until `state` is ready. Throws usage_error on a worker: handlers never block.
void wait_in_application(engine& core, thread_context& on, future_state& state);
/// The application looks at something that is not there yet. True: virtual time has gone on since, others have run.
[[nodiscard]] bool look_again(const thread_context& on);

}  // namespace detail

/// The result of one call, to be taken once. Movable; abandoning it is safe. Belongs to the thread that made it.
template <class T>
class future {
 public:
  future() = default;
  future(engine& core, thread_context& on, detail::future_value<T>* state) noexcept
      : core_(&core), thread_(&on), state_(state) {}
  future(future&& other) noexcept
      : core_(other.core_), thread_(other.thread_), state_(std::exchange(other.state_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(thread_, other.thread_);
    std::swap(state_, other.state_);
    return *this;
  }
  ~future() {
    if (state_ != nullptr) state_->abandon();
  }

  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Under simulation a main that looks again at the same instant lets a little virtual time go on, so that a loop
  /// ends.
  [[nodiscard]] bool ready() const {
    if (state_ == nullptr || state_->ready()) return state_ != nullptr;
    return thread_ != nullptr && detail::look_again(*thread_) && state_->ready();
  }

  /// Application thread only: runs other work until the result is there. In a handler write `co_await` instead.
  void wait() {
    if (state_ == nullptr)
      throw usage_error("wait on a future that has no call (it was moved from, or never given one)");
    if (core_ != nullptr) detail::wait_in_application(*core_, *thread_, *state_);
  }
  /// wait(), then the value; throws call_error when the call failed. The future is empty afterwards.
  T get() {
    wait();
    return take();
  }

  /// For the runtime: where it may be waited for. Null for a result that was there from the beginning.
  [[nodiscard]] engine* core() const noexcept { return core_; }
  [[nodiscard]] thread_context* home() const noexcept { return thread_; }
  /// A result that is there, and belongs to no call.
  explicit future(detail::future_value<T>* state) noexcept : state_(state) {}

  /// For `co_await`; see task.hpp.
  [[nodiscard]] detail::future_state* state() const noexcept { return state_; }
  /// The value of a ready future; throws call_error when the call failed.
  T take() {
    const future emptied = std::move(*this);
    emptied.state_->throw_if_failed();
    return emptied.state_->value();
  }

 private:
  engine* core_ = nullptr;
  thread_context* thread_ = nullptr;
  detail::future_value<T>* state_ = nullptr;
};

}  // namespace nacre
