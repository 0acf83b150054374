// SPDX-License-Identifier: Apache-2.0
// What a program does with Nacre: the operations of a rank, as its main and its handlers see them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/collectives.hpp>
#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/memory.hpp>
#include <nacre/mobile_ptr.hpp>

namespace nacre {

/// Tells `send` to address every rank, the own one included.
struct to_all_t {};
inline constexpr to_all_t to_all{};

/// How to send, where the defaults do not fit.
struct with {
  nacre::category category = nacre::category::worker;
  nacre::channel channel = nacre::channel::application;
};

/// A message that could not be delivered because its target is gone.
struct delivery_error {
  object_id object;
  std::string_view handler;
};

namespace detail {

// The untyped core, one function an operation; see src/runtime/engine.hpp for who does what.
[[nodiscard]] rank_id rank_of(const engine& core) noexcept;
[[nodiscard]] std::uint32_t size_of(const engine& core) noexcept;
[[nodiscard]] std::uint32_t workers_of(const engine& core) noexcept;
[[nodiscard]] double seconds_of(const engine& core, const lane& on) noexcept;
void post_to_rank(engine& core, lane& on, rank_id to, message_ptr m);
void post_to_all(engine& core, lane& on, message_ptr m);
void post_to_object(engine& core, lane& on, object_id object, message_ptr m);
void open_call(engine& core, lane& on, message& request, future_state& state);
[[nodiscard]] object_id adopt_object(engine& core, lane& on, const object_type& type, void* object);
void post_migrate(engine& core, lane& on, object_id object, rank_id to, future_state& done);
void post_destroy(engine& core, lane& on, object_id object);
[[nodiscard]] bool is_resident(engine& core, lane& on, object_id object) noexcept;
void enable_balancing(engine& core, bool on) noexcept;
void wait_quiescence(engine& core, lane& on);
void post_on_quiescence(engine& core, lane& on, message_ptr m);
void set_error_handler(engine& core, std::function<void(const delivery_error&)> handler);

template <auto F>
void stamp(message& m, with how) noexcept {
  m.header.channel = how.channel;
  if (how.category == category::communication) m.header.flags |= flag_communication;
}

template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args);

}  // namespace detail

/// The operations that a rank's main (`runtime`) and its handlers (`context`) share. All of them return at once; none
/// may be called from a thread that the program started itself. Arguments are converted to the handler's parameter
/// types before the call returns, so the caller's values may change or end at once.
class operations {
 public:
  [[nodiscard]] rank_id rank() const noexcept { return detail::rank_of(*core_); }
  [[nodiscard]] std::uint32_t size() const noexcept { return detail::size_of(*core_); }
  /// Workers of this rank.
  [[nodiscard]] std::uint32_t workers() const noexcept { return detail::workers_of(*core_); }
  /// Seconds since the job's start; virtual ones under simulation.
  [[nodiscard]] double now() const noexcept { return detail::seconds_of(*core_, *lane_); }

  /// Runs F on a rank. One-way; in order for one channel and one pair of ranks.
  template <auto F, class... Args>
  void send(rank_id to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send(with how, rank_id to, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_to_rank(*core_, *lane_, to, std::move(m));
  }
  /// Runs F on every rank, the own one included.
  template <auto F, class... Args>
  void send(to_all_t, Args&&... args) {
    send<F>(with{}, to_all, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send(with how, to_all_t, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_to_all(*core_, *lane_, std::move(m));
  }
  /// Runs a member function on a mobile object, wherever it is. A const one may run beside other const ones; a
  /// non-const one runs alone. Messages from one handler to one object run in the order sent.
  template <auto F, class T, class... Args>
  void send(mobile_ptr<T> to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(with how, mobile_ptr<T> to, Args&&... args) {
    detail::post_to_object(*core_, *lane_, to.id(), object_message<F, T>(how, std::forward<Args>(args)...));
  }

  /// As send, with the handler's result for the caller.
  template <auto F, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(rank_id to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, rank_id to, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    auto result = pending<detail::result_of<F>>(*m);
    detail::post_to_rank(*core_, *lane_, to, std::move(m));
    return result;
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(mobile_ptr<T> to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, mobile_ptr<T> to, Args&&... args) {
    message_ptr m = object_message<F, T>(how, std::forward<Args>(args)...);
    auto result = pending<detail::result_of<F>>(*m);
    detail::post_to_object(*core_, *lane_, to.id(), std::move(m));
    return result;
  }

  /// Makes a mobile object here; T must be default-constructible and serializable, so that it can move.
  template <class T, class... Args>
  mobile_ptr<T> create(Args&&... args) {
    auto object = std::make_unique<T>(make_aggregate_or_object<T>(std::forward<Args>(args)...));
    return mobile_ptr<T>(detail::adopt_object(*core_, *lane_, detail::type_of<T>(), object.release()));
  }
  template <class T>
  mobile_ptr<T> create() {
    return mobile_ptr<T>(detail::adopt_object(*core_, *lane_, detail::type_of<T>(), new T()));
  }
  /// Makes a mobile object on another rank from copies of the arguments.
  template <class T, class... Args>
  [[nodiscard]] future<mobile_ptr<T>> create_on(rank_id where, Args&&... args) {
    return call<&detail::create_remotely<T, std::decay_t<Args>...>>(where, std::forward<Args>(args)...);
  }
  /// Moves an object after the messages that this caller sent to it before. Ready when it has arrived.
  template <class T>
  future<void> migrate(mobile_ptr<T> object, rank_id to) {
    auto* state = new detail::future_value<void>;
    future<void> moved(*core_, *lane_, state);
    detail::post_migrate(*core_, *lane_, object.id(), to, *state);
    return moved;
  }
  /// Ends an object after the messages that this caller sent to it before. What others send later reaches their
  /// error handler.
  template <class T>
  void destroy(mobile_ptr<T> object) {
    detail::post_destroy(*core_, *lane_, object.id());
  }
  /// Whether the object is on this rank at this moment.
  template <class T>
  [[nodiscard]] bool is_local(mobile_ptr<T> object) const noexcept {
    return detail::is_resident(*core_, *lane_, object.id());
  }

  /// Lets every rank that is given the handle read and write this memory of the caller, or, if T is const, read it. It
  /// must stay where it is until withdraw. Elements that several access at a time, one of them writing, hold anything.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::span<T> own) {
    constexpr auto access = std::is_const_v<T> ? detail::memory_access::read_only : detail::memory_access::read_write;
    return remote_memory<T>(detail::expose(*core_, lent(std::span<const T>(own)), access));
  }
  /// Copies `from` to the elements at `offset` of another rank's memory, or of the own one. Ready when the bytes are in
  /// place there. `from` must stay as it is until then, or until the future is dropped, which ends the transfer: what
  /// has not left by then is not written. Large ones travel in pieces on channel::bulk. Several transfers are in no order: wait
  /// for one before the next if it matters. The future fails with call_error when the range is not inside the
  /// memory, the key is wrong, or it was never exposed, and then nothing was written; also when it is withdrawn, at
  /// which some pieces may have been written before.
  template <class T>
  [[nodiscard]] future<void> put(const remote_memory<T>& to, std::size_t offset,
                                 std::type_identity_t<std::span<const T>> from) {
    static_assert(!std::is_const_v<T>, "a handle to const elements can only be read through");
    return detail::put(*core_, *lane_, to.name(), {offset, sizeof(T), lent(from)});
  }
  /// Copies the elements at `offset` of the memory to `to`, which is lent until the future is ready or dropped: it is
  /// not touched afterwards. As put in all else.
  template <class T>
  [[nodiscard]] future<void> get(const remote_memory<T>& from, std::size_t offset,
                                 std::type_identity_t<std::span<std::remove_const_t<T>>> to) {
    return detail::get(*core_, *lane_, from.name(), {offset, sizeof(T), lent(std::span<const T>(to))});
  }
  /// Ends access to memory that this rank has exposed. When it returns nothing touches the memory any more; accesses
  /// that come later, and the rest of those under way, fail at their callers. Waits for no rank, at most for a piece
  /// that another lane of this rank is copying. Throws usage_error when it is not, or no longer, exposed here.
  template <class T>
  void withdraw(const remote_memory<T>& exposed) {
    detail::withdraw(*core_, exposed.name());
  }

  /// Runs F on this rank once no handler runs and no message is under way anywhere.
  template <auto F, class... Args>
  void on_quiescence(Args&&... args) {
    detail::post_on_quiescence(*core_, *lane_, detail::make_typed<F>(std::forward<Args>(args)...));
  }

  /// Lets the balancer of this rank move objects away (the default), or not, for a phase of the program.
  void enable_balancing(bool on) noexcept { detail::enable_balancing(*core_, on); }

 protected:
  operations(engine& core, lane& on) noexcept : core_(&core), lane_(&on) {}
  ~operations() = default;

  engine* core_;
  lane* lane_;

 private:
  template <auto F, class T, class... Args>
  static message_ptr object_message(with how, Args&&... args) {
    static_assert(std::is_base_of_v<typename detail::traits<F>::target, T>, "F is no member function of the object");
    message_ptr m = detail::make_typed<F, T>(std::forward<Args>(args)...);
    m->header.kind = message_kind::object;
    detail::stamp<F>(*m, how);
    return m;
  }
  template <class T>
  static std::span<std::byte> lent(std::span<const T> of) noexcept {
    return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(of.data())), of.size_bytes()};
  }
  template <class R>
  future<R> pending(message& request) {
    auto* state = new detail::future_value<R>;
    detail::open_call(*core_, *lane_, request, *state);
    return future<R>(*core_, *lane_, state);
  }
  template <class T, class... Args>
  static T make_aggregate_or_object(Args&&... args) {
    if constexpr (std::is_constructible_v<T, Args...>) {
      return T(std::forward<Args>(args)...);
    } else {
      return T{std::forward<Args>(args)...};
    }
  }
};

/// One rank, as its main sees it. Belongs to the application thread of the rank.
class runtime : public operations {
 public:
  runtime(engine& core, lane& on) noexcept : operations(core, on) {}
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Collectives. All ranks call the same ones in the same order, with values of one type, from their mains; else the job
  // ends with a line that says who called what. A type is any that messages may carry. `op` takes two values and returns one;
  // it must be associative. It need not be commutative: values are combined in the order of the ranks, and always
  // in the same grouping, so that sums of floating-point numbers are the same in every run. Each takes a number of steps that
  // grows with the logarithm of the number of ranks, and none returns before all ranks have called it.

  /// Waits until every rank is here, while this rank goes on running handlers.
  void barrier() { static_cast<void>(detail::run_collective(*core_, *lane_, {})); }
  /// The root's value, on every rank.
  template <class T>
  [[nodiscard]] T broadcast(const T& value, rank_id root) {
    return detail::broadcast_value(*core_, *lane_, value, root);
  }
  /// op(op(v0, v1), ...) over the values of all ranks, at the root; nothing elsewhere.
  template <class T, class Op>
  std::optional<T> reduce(const T& value, Op op, rank_id root) {
    const auto bytes =
        detail::combine_values(*core_, *lane_, collective_kind::reduce, root, value, std::move(op));
    if (rank() != root) return std::nullopt;
    return detail::unpack_own<T>(bytes);
  }
  /// As reduce, with the result on every rank.
  template <class T, class Op>
  [[nodiscard]] T all_reduce(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *lane_, collective_kind::all_reduce, {}, value, std::move(op)));
  }
  /// The values of all ranks, by rank, at the root; an empty vector elsewhere.
  template <class T>
  std::vector<T> gather(const T& value, rank_id root) {
    return detail::gather_values(*core_, *lane_, collective_kind::gather, root, value);
  }
  /// The values of all ranks, by rank, on every rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) {
    return detail::gather_values(*core_, *lane_, collective_kind::all_gather, {}, value);
  }
  /// op(op(v0, v1), ...) over the values of the ranks up to this one, its own included.
  template <class T, class Op>
  [[nodiscard]] T scan(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *lane_, collective_kind::scan, {}, value, std::move(op)));
  }
  /// op(op(init, v0), ...) over the values of the ranks before this one; `init` itself on rank 0.
  template <class T, class Op>
  [[nodiscard]] T exclusive_scan(const T& value, T init, Op op) {
    const auto before = detail::combine_values(*core_, *lane_, collective_kind::exclusive_scan, {}, value, op);
    if (rank().value() == 0) return init;
    return static_cast<T>(op(std::move(init), detail::unpack_own<T>(before)));
  }
  /// Collective: waits until no handler runs and no message is under way anywhere.
  void wait_quiescence() { detail::wait_quiescence(*core_, *lane_); }

  /// Who is told of messages to destroyed objects that this rank sent; the default prints one line each to stderr.
  /// Called on any lane of the rank.
  void on_delivery_error(std::function<void(const delivery_error&)> handler) {
    detail::set_error_handler(*core_, std::move(handler));
  }
};

/// A rank, as a running handler sees it. Valid during the handler; in a coroutine, until it ends.
class context : public operations {
 public:
  context(engine& core, lane& on, const message_header& cause) noexcept
      : operations(core, on), source_(cause.source), self_(cause.object) {}

  /// The rank that sent the message.
  [[nodiscard]] rank_id source() const noexcept { return rank_id(source_); }
  /// The worker that runs the handler.
  [[nodiscard]] worker_id worker() const noexcept;
  /// The mobile object that the handler runs on.
  template <class T>
  [[nodiscard]] mobile_ptr<T> self() const noexcept {
    return mobile_ptr<T>(object_id::from_value(self_));
  }
  /// Declares that the handler has cost so many seconds: virtual time under simulation, load elsewhere.
  void charge(double seconds) noexcept;
  /// True when idle workers or ranks ask for work: split if you can. Cheap enough to ask every few microseconds.
  [[nodiscard]] bool wanted_elsewhere() const noexcept;

  /// For the runtime: the lane that a suspended coroutine goes on with.
  void move_to(lane& on) noexcept { lane_ = &on; }
  [[nodiscard]] engine& core() const noexcept { return *core_; }
  [[nodiscard]] lane& current_lane() const noexcept { return *lane_; }

 private:
  std::uint32_t source_;
  std::uint64_t self_;
};

namespace detail {
template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args) {
  return ctx.create<T>(std::move(args)...);
}
}  // namespace detail
}  // namespace nacre
