// SPDX-License-Identifier: Apache-2.0
// The untyped operations of a rank, which implement the typed ones. Programs do not call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <nacre/counters.hpp>
#include <nacre/error.hpp>
#include <nacre/flow_control.hpp>
#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/mobile_ptr.hpp>

namespace nacre {

/// Tells `send` to address every rank, this one included.
struct to_all_t {};
inline constexpr to_all_t to_all{};

/// Options of a message, for use where the defaults do not fit.
struct with {
  nacre::category category = nacre::category::worker;
  nacre::channel channel = nacre::channel::application;
  /// The deadline of a call: seconds from now, in virtual time under simulation. If the result has not come by then,
  /// the future fails with timeout_error. The handler is not stopped; a later result is dropped.
  double deadline = std::numeric_limits<double>::infinity();
  /// For a `send` to a rank or to all ranks. False: the message may be lost, comes once at most and unchanged, and in
  /// no order; see message_operations.
  bool reliable = true;
};

/// The most bytes of a message with{.reliable = false}: of its arguments as they are packed.
inline constexpr std::size_t unreliable_bytes_max = std::size_t{1} << 20;

/// A message that could not be delivered because its target does not exist any more.
struct delivery_error {
  object_id object;  ///< not valid for a key without an element, which `why` names
  std::string_view handler;
  std::string_view why = "the object has been destroyed";
};

namespace detail {

// The untyped core: one function for each operation; implementations are in src/runtime/api/, a few in
// am/call_deadline.cpp and am/sleep.cpp. A function that throws has had no effect: no message is counted or numbered,
// and no call waits. `result`, if not null, gets the reply.
[[nodiscard]] rank_id rank_of(const engine& core) noexcept;
[[nodiscard]] std::uint32_t size_of(const engine& core) noexcept;
[[nodiscard]] bool stop_requested(engine& core) noexcept;
/// See context::cancelled. `cause`: the message of the handler that runs.
[[nodiscard]] bool is_cancelled(engine& core, thread_context& thread, const message_header& cause);
void handle_signals(engine& core);
[[nodiscard]] std::uint32_t workers_of(const engine& core) noexcept;
[[nodiscard]] double seconds_of(engine& core, const thread_context& thread);
void post_to_rank(engine& core, thread_context& thread, rank_id target, message_ptr m, future_state* result = nullptr);
/// The message waits on this rank until the policy lets it leave.
void post_with_flow_control(engine& core, thread_context& thread, rank_id target, flow_policy policy, message_ptr m);
void post_to_all(engine& core, thread_context& thread, message_ptr m);
/// A message that may be lost, to one rank or to all of them. Behind its payload follow the bytes of `apart`, which are
/// the caller's again afterwards.
void post_unreliable(engine& core, thread_context& thread, rank_id target, message_ptr m,
                     std::span<const std::span<const std::byte>> apart);
void post_unreliable(engine& core, thread_context& thread, to_all_t target, message_ptr m,
                     std::span<const std::span<const std::byte>> apart);
/// Sender and target of a message to an object. `source` is not valid() when the sender is not an object.
struct object_pair {
  object_id source, target;
};
void post_to_object(engine& core, thread_context& thread, const object_pair& ends, message_ptr m,
                    future_state* result = nullptr);
/// Takes ownership of the object, also when it throws.
[[nodiscard]] object_id adopt_object(engine& core, thread_context& thread, const object_type& type, void* object);
void post_migrate(engine& core, thread_context& thread, object_id object, rank_id target, future_state& done);
void post_destroy(engine& core, thread_context& thread, object_id object);
/// Throws usage_error when there is no such object.
[[nodiscard]] rank_id home_of(engine& core, object_id object);
[[nodiscard]] bool is_local(engine& core, thread_context& thread, object_id object) noexcept;
void enable_balancing(engine& core, bool is_on) noexcept;
void wait_quiescence(engine& core, thread_context& thread);
void post_on_quiescence(engine& core, thread_context& thread, message_ptr m);
[[nodiscard]] rank_counters counters_of(const engine& core) noexcept;
void set_error_handler(engine& core, thread_context& thread, std::function<void(const delivery_error&)> handler);

/// `function` holds the packed arguments and the number of the handler row, which has a colocation_shape.
void post_colocate(engine& core, thread_context& thread, std::span<const object_id> objects, message_ptr function,
                   future_state* result = nullptr);

/// The access to an object that a main requests.
enum class object_access : std::uint8_t { shared, exclusive };
/// Waits in main until main has access to the object, which is on this rank then; see
/// operations::with_exclusive. `key` is the key of the class that the object must have.
[[nodiscard]] void* lock_object(engine& core, thread_context& thread, object_id object, object_access object_access,
                                const void* key);
void unlock_object(engine& core, thread_context& thread, object_id object, object_access object_access) noexcept;

/// Gives a main access to an object for one scope.
class object_lock {
 public:
  object_lock(engine& core, thread_context& thread, object_id object, object_access object_access, const void* key)
      : core_(core),
        thread_(thread),
        object_(object),
        access_(object_access),
        held_(lock_object(core, thread, object, object_access, key)) {}
  object_lock(const object_lock&) = delete;
  object_lock& operator=(const object_lock&) = delete;
  ~object_lock() { unlock_object(core_, thread_, object_, access_); }
  [[nodiscard]] void* held() const noexcept { return held_; }

 private:
  engine& core_;
  thread_context& thread_;
  object_id object_;
  object_access access_;
  void* held_;
};

/// Lets the call that `result` waits for fail after so many seconds.
void limit_call(thread_context& thread, future_state& result, double seconds);
/// Throws usage_error unless `seconds` is a number. `name`: what they are, for the text, such as "a delay".
void check_seconds(double seconds, const char* name);
/// The state of a future that is ready after so many seconds.
[[nodiscard]] future_value<void>* start_sleep(thread_context& thread, double seconds);
class delayed_state;
/// Posts `m` after so many seconds, to `ends.target`, or to this rank when that is not valid().
[[nodiscard]] delayed_state* post_after(engine& core, thread_context& thread, double seconds, const object_pair& ends,
                                        message_ptr m);
bool take_back(delayed_state& state) noexcept;
void release(delayed_state& state) noexcept;

/// Before a message without a result is sent.
inline void refuse_deadline(const with& options) {
  if (options.deadline != std::numeric_limits<double>::infinity())
    throw usage_error("a deadline is for the result of a call: a message that is sent has none");
}

/// Before a message that cannot be unreliable is sent. `subject`: its name, for the text.
void refuse_unreliable(const char* subject);
inline void expect_reliable(const with& options, const char* subject) {
  if (!options.reliable) [[unlikely]]
    refuse_unreliable(subject);
}

template <auto F>
void stamp(message& m, with options) noexcept {
  m.header.channel = options.channel;
  if (options.category == category::communication) m.header.flags |= flag_communication;
}

}  // namespace detail

/// A message that is sent later; see message_operations::after. Dropping it changes nothing. Movable; it belongs to the
/// rank that made it, and may be kept longer than the job.
class delayed_message {
 public:
  delayed_message() = default;
  explicit delayed_message(detail::delayed_state& state) noexcept : state_(&state) {}
  delayed_message(delayed_message&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  delayed_message& operator=(delayed_message&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~delayed_message() {
    if (state_ != nullptr) detail::release(*state_);
  }
  /// Takes the message back. True: its handler does not run. False: too late, the message has been sent.
  bool cancel() noexcept { return state_ != nullptr && detail::take_back(*state_); }

 private:
  detail::delayed_state* state_ = nullptr;
};

}  // namespace nacre
