// SPDX-License-Identifier: Apache-2.0
// The door of a rank for threads that are not the rank's own: of a server, a user interface, a library.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/lambda.hpp>
#include <nacre/operations.hpp>
#include <nacre/submission.hpp>
#include <nacre/target.hpp>
#include <nacre/work.hpp>

namespace nacre {

namespace detail {

class open_door;

// src/runtime/api/submitter.cpp.
[[nodiscard]] std::shared_ptr<open_door> make_door(engine& core, thread_context& thread);
/// False: the queue is full. Throws usage_error when the door is closed, or when the job has ended.
bool submit(open_door* door, std::unique_ptr<submission> item, when_full when_full);
/// Throws usage_error for a rank that the job does not have.
void expect_rank(const open_door* door, rank_id target);
/// Throws usage_error for a pointer that names no object.
void expect_object(object_id target);
/// In a catch clause: the error for the future of a call that threw before it was made. A call_error.
[[nodiscard]] std::exception_ptr error_of_call();
/// In a catch clause: ends the job with a line, because work that was handed in threw and has no future.
void submission_threw(engine& core) noexcept;
/// Ends the job with a line, because a callback given to `then` threw.
void callback_threw(engine& core) noexcept;

/// The result of a call from outside: whether it is there, and who waits for it.
struct outside_result {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;  // the members below are under the mutex until then
  std::exception_ptr error;
  std::function<void()> callback;                       // once it is ready
  std::function<void(thread_context&)> wake_main = {};  // while a main waits
  engine* core = nullptr;                               // of the rank that gives it, while its life lasts
  std::uint32_t life = 0;
};

void note_rank(outside_result& result, const open_door* door) noexcept;

/// The value, or the error, is there: wakes the waiting threads, and runs the callback. Inside the rank.
void complete(outside_result& result, engine& core, thread_context& thread);
/// Blocks the calling thread; a main of the rank that made the submitter runs other work meanwhile. `seconds`: at most
/// so many; none: no bound. Returns whether the result is there. Throws usage_error in a handler.
bool wait_for_result(outside_result& result, std::optional<double> seconds);

/// An outside_future and the rank share it.
template <class T>
struct outside_state : outside_result {
  using value_type = std::conditional_t<std::is_void_v<T>, std::tuple<>, T>;
  std::optional<value_type> value;
};

/// A call that waits for its result inside the rank.
template <class T>
class outside_call final : public waiter {
 public:
  outside_call(engine& core, future<T> result, std::shared_ptr<outside_state<T>> state)
      : waiter{&on_result}, core_(core), result_(std::move(result)), state_(std::move(state)) {}
  /// The object deletes itself when the result is there.
  static void begin(std::unique_ptr<outside_call> result, thread_context& thread) {
    outside_call* const self = result.release();
    if (!self->result_.state()->await(*self)) self->finish(thread);
  }

 private:
  static void on_result(waiter& self, thread_context& thread) { static_cast<outside_call&>(self).finish(thread); }
  void finish(thread_context& thread) {
    const std::unique_ptr<outside_call> ended(this);
    try {
      if constexpr (std::is_void_v<T>) {
        result_.take();
        state_->value.emplace();
      } else {
        state_->value.emplace(result_.take());
      }
    } catch (...) {
      state_->error = std::current_exception();
    }
    complete(*state_, core_, thread);
  }

  engine& core_;
  future<T> result_;
  std::shared_ptr<outside_state<T>> state_;
};

}  // namespace detail

/// The result of a call that a thread outside of the runtime has made. Movable, and independent of the submitter. When
/// the job ends before the result, which an open submitter prevents, it never becomes ready.
template <class T>
class outside_future {
 public:
  outside_future() = default;
  /// For submitter.
  explicit outside_future(std::shared_ptr<detail::outside_state<T>> state) noexcept : state_(std::move(state)) {}

  /// False for a future that was moved from, that gave its value, or that never had a call.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Any thread.
  [[nodiscard]] bool ready() const {
    if (state_ == nullptr) return false;
    const std::scoped_lock lock(state_->mutex);
    return state_->ready;
  }
  /// Blocks the calling thread until the result is there; the main of the rank that made the submitter runs other work
  /// meanwhile. Throws usage_error in a handler, which co_awaits calls of its own, in the main of another rank, and
  /// when the future is not valid().
  void wait() const {
    expect_call();
    static_cast<void>(detail::wait_for_result(*state_, std::nullopt));
  }
  /// As wait, for at most so many seconds. Returns whether the result is there.
  [[nodiscard]] bool wait_for(double seconds) const {
    expect_call();
    detail::check_seconds(seconds, "a time limit");
    return detail::wait_for_result(*state_, seconds);
  }
  /// wait(), then the value; throws call_error when the call failed. The future is empty afterwards.
  T get() {
    wait();
    const auto state = std::move(state_);
    if (state->error != nullptr) std::rethrow_exception(state->error);
    if constexpr (!std::is_void_v<T>) return std::move(*state->value);
  }
  /// Calls `f(value)`, or `f()` for a call without a value, once the result is there: at once on this thread, or later
  /// on a thread of the runtime, where it must be short and must not wait. When the call has failed, `failed` gets the
  /// call_error; without it the failure is dropped. The future is empty afterwards. An exception of f comes out of
  /// `then` where f runs at once, and ends the job where it runs later.
  template <class F>
  void then(F f) {
    then(std::move(f), [](const call_error&) {});
  }
  template <class F, class Failed>
  void then(F f, Failed failed) {
    expect_call();
    const auto state = std::move(state_);
    // The state holds the callback, which holds no reference to it: its caller has one.
    auto run = [raw = state.get(), f = std::move(f), failed = std::move(failed)]() mutable {
      if (raw->error != nullptr) {
        try {
          std::rethrow_exception(raw->error);
        } catch (const call_error& error) {
          failed(error);
        }
      } else if constexpr (std::is_void_v<T>) {
        f();
      } else {
        f(std::move(*raw->value));
      }
    };
    {
      const std::scoped_lock lock(state->mutex);
      if (!state->ready) {
        state->callback =
            std::function<void()>([shared = std::make_shared<decltype(run)>(std::move(run))] { (*shared)(); });
        return;
      }
    }
    run();
  }

 private:
  void expect_call() const {
    if (state_ == nullptr) {
      throw usage_error("an outside_future that has no call (it was moved from, gave its value, or never had one)");
    }
  }
  std::shared_ptr<detail::outside_state<T>> state_;
};

/// The door of a rank for other threads of its process, made by `rt.submitter()`. Copies are the same door. Any thread
/// may use one, several at a time; what one thread sends through it to one target stays in order. The job stays open,
/// and is not quiescent, until all copies are closed or destroyed. A rank that sleeps wakes for what is handed in.
///
/// When the rank has more than it can do, `send` and `call` wait for it, and try_send and try_call refuse. So a handler
/// must not wait for a thread that hands in work. A handler, or a callback of `then`, that uses a submitter itself does
/// not wait. They throw usage_error when this copy is closed, or when the job has ended.
///
///     nacre::submitter door = rt.submitter();
///     std::thread reader([door] { door.send<&cell::step>(p, 5); });
class submitter {
 public:
  /// A closed one.
  submitter() = default;
  /// For runtime.
  explicit submitter(std::shared_ptr<detail::open_door> door) noexcept : door_(std::move(door)) {}

  /// Closes this copy. No effect on a closed one.
  void close() noexcept { door_.reset(); }
  [[nodiscard]] bool is_open() const noexcept { return door_ != nullptr; }

  /// Runs F as `send` of a main does; the targets are the same: a rank, all ranks, an object, an element, a key, a
  /// group.
  template <auto F, class Target, class... Args>
  requires(!detail::is_options<Target>) void send(const Target& target, Args&&... args) const {
    send<F>(with{}, target, std::forward<Args>(args)...);
  }
  template <auto F, class Target, class... Args>
  void send(with options, const Target& target, Args&&... args) const {
    static_cast<void>(
        detail::submit(door_.get(), sending<F>(options, target, std::forward<Args>(args)...), detail::when_full::wait));
  }
  /// Runs a lambda without captures, as `send` of a main does.
  template <class Target, class L, class... Args>
  requires(std::is_class_v<std::decay_t<L>> && !detail::is_options<Target>) void send(const Target& target, L lambda,
                                                                                      Args&&... args) const {
    send(with{}, target, std::move(lambda), std::forward<Args>(args)...);
  }
  template <class Target, class L, class... Args>
  requires std::is_class_v<std::decay_t<L>>
  void send(with options, const Target& target, L, Args&&... args) const {
    send<detail::lambda_for<Target, std::decay_t<L>>>(options, target, std::forward<Args>(args)...);
  }
  /// As send. False: there is no room, and nothing has happened.
  template <auto F, class Target, class... Args>
  requires(!detail::is_options<Target>) [[nodiscard]] bool try_send(const Target& target, Args&&... args) const {
    return try_send<F>(with{}, target, std::forward<Args>(args)...);
  }
  template <auto F, class Target, class... Args>
  [[nodiscard]] bool try_send(with options, const Target& target, Args&&... args) const {
    return detail::submit(door_.get(), sending<F>(options, target, std::forward<Args>(args)...),
                          detail::when_full::refuse);
  }
  /// Runs F as `call` of a main does. The seconds of a deadline begin when the rank takes the call, which is within
  /// microseconds unless it has more to do than it can.
  template <auto F, class Target, class... Args>
  requires(!detail::is_options<Target>)
      [[nodiscard]] outside_future<detail::answer<Target, F>> call(const Target& target, Args&&... args) const {
    return call<F>(with{}, target, std::forward<Args>(args)...);
  }
  template <auto F, class Target, class... Args>
  [[nodiscard]] outside_future<detail::answer<Target, F>> call(with options, const Target& target,
                                                               Args&&... args) const {
    return handed_in<F>(detail::when_full::wait, options, target, std::forward<Args>(args)...);
  }
  /// Calls F as `call` does, but never waits for room. If there is no room it does nothing, and returns a future that
  /// is not valid().
  template <auto F, class Target, class... Args>
  requires(!detail::is_options<Target>)
      [[nodiscard]] outside_future<detail::answer<Target, F>> try_call(const Target& target, Args&&... args) const {
    return try_call<F>(with{}, target, std::forward<Args>(args)...);
  }
  template <auto F, class Target, class... Args>
  [[nodiscard]] outside_future<detail::answer<Target, F>> try_call(with options, const Target& target,
                                                                   Args&&... args) const {
    return handed_in<F>(detail::when_full::refuse, options, target, std::forward<Args>(args)...);
  }
  template <class Target, class L, class... Args>
  requires(std::is_class_v<std::decay_t<L>> && !detail::is_options<Target>)
      [[nodiscard]] auto call(const Target& target, L lambda, Args&&... args) const {
    return call(with{}, target, std::move(lambda), std::forward<Args>(args)...);
  }
  template <class Target, class L, class... Args>
  requires std::is_class_v<std::decay_t<L>>
  [[nodiscard]] auto call(with options, const Target& target, L, Args&&... args) const {
    return call<detail::lambda_for<Target, std::decay_t<L>>>(options, target, std::forward<Args>(args)...);
  }

 private:
  class door_operations final : public operations {
   public:
    door_operations(engine& core, thread_context& thread) noexcept : operations(core, thread) {}
    [[nodiscard]] engine& core() const noexcept { return *core_; }
    [[nodiscard]] thread_context& thread() const noexcept { return *thread_; }
  };
  template <class Body>
  class submitted final : public detail::submission {
   public:
    explicit submitted(Body body) : body_(std::move(body)) {}
    void run(engine& core, thread_context& thread) override {
      try {
        door_operations ops(core, thread);
        body_(ops);
      } catch (...) {
        detail::submission_threw(core);
      }
    }

   private:
    Body body_;
  };
  template <auto F, class Target, class... Args>
  [[nodiscard]] outside_future<detail::answer<Target, F>> handed_in(detail::when_full policy, with options,
                                                                    const Target& target, Args&&... args) const {
    using result = detail::answer<Target, F>;
    expect_target(target);
    auto state = std::make_shared<detail::outside_state<result>>();
    detail::note_rank(*state, door_.get());
    auto values = values_of<F>(std::forward<Args>(args)...);
    const std::size_t bytes = bytes_of(values);
    auto product = make(bytes, [options, target, state, values = std::move(values)](door_operations& ops) mutable {
      try {
        auto pending =
            std::apply([&](auto&&... each) { return ops.template call<F>(options, target, std::move(each)...); },
                       std::move(values));
        detail::outside_call<result>::begin(
            std::make_unique<detail::outside_call<result>>(ops.core(), std::move(pending), state), ops.thread());
      } catch (...) {
        state->error = detail::error_of_call();
        detail::complete(*state, ops.core(), ops.thread());
      }
    });
    if (!detail::submit(door_.get(), std::move(product), policy)) return {};
    return outside_future<result>(std::move(state));
  }
  template <class Body>
  static std::unique_ptr<detail::submission> make(std::size_t bytes, Body body) {
    std::unique_ptr<detail::submission> result = std::make_unique<submitted<Body>>(std::move(body));
    result->bytes = bytes;
    return result;
  }
  template <class Values>
  static std::size_t bytes_of(const Values& values) {
    return std::apply([](const auto&... each) { return packed_size(each...); }, values);
  }
  template <class Target>
  void expect_target(const Target& target) const {
    using address = detail::address<Target>;
    if constexpr (std::is_same_v<address, detail::rank_address>) {
      detail::expect_rank(door_.get(), detail::address_of(target).rank);
    } else if constexpr (requires(const address place) { rank_id(place.member.rank()); }) {
      detail::expect_rank(door_.get(), detail::address_of(target).member.rank());
    } else if constexpr (requires(const address place) { object_id(place.id); }) {
      detail::expect_object(detail::address_of(target).id);
    }
  }
  template <auto F, class... Args>
  static auto values_of(Args&&... args) {
    using values = typename detail::traits<F>::values;
    static_assert(std::tuple_size_v<values> == sizeof...(Args),
                  "the arguments behind the target are those of the handler");
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return values(detail::to_stored<std::tuple_element_t<Index, values>>(std::forward<Args>(args))...);
    }
    (std::index_sequence_for<Args...>{});
  }
  template <auto F, class Target, class... Args>
  std::unique_ptr<detail::submission> sending(with options, const Target& target, Args&&... args) const {
    expect_target(target);
    detail::refuse_deadline(options);
    if constexpr (!detail::is_rank_target<Target>)
      detail::expect_reliable(options, "a message to an object or a group");
    auto values = values_of<F>(std::forward<Args>(args)...);
    const std::size_t bytes = bytes_of(values);
    return make(bytes, [options, target, values = std::move(values)](door_operations& ops) mutable {
      std::apply([&](auto&&... each) { ops.template send<F>(options, target, std::move(each)...); }, std::move(values));
    });
  }
  std::shared_ptr<detail::open_door> door_;
};

}  // namespace nacre
