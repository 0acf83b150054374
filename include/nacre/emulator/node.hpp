// SPDX-License-Identifier: Apache-2.0
// The interface of one emulated node for the handlers that run on it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/emulator/handler.hpp>
#include <nacre/emulator/task.hpp>

namespace nacre {

namespace emulated {

/// The threads of a node that may run a message.
class placement {
 public:
  static constexpr std::uint16_t any_worker = 0xffff, any_communication = 0xfffe;
  explicit constexpr placement(std::uint16_t code) noexcept : code_(code) {}
  [[nodiscard]] constexpr std::uint16_t code() const noexcept { return code_; }

 private:
  std::uint16_t code_;
};

/// Any worker thread: the one of the lowest number that is idle, else the first that becomes free.
inline constexpr placement worker{placement::any_worker};
/// Any communication thread, by the same rule; any worker thread on a machine without communication threads.
inline constexpr placement communication{placement::any_communication};
/// The thread of that number, of whichever category.
[[nodiscard]] constexpr placement thread(std::uint32_t number) noexcept {
  return placement(number < placement::any_communication ? static_cast<std::uint16_t>(number) : 0xfffd);
}

}  // namespace emulated

namespace detail {

class node_loop;

// The untyped operations of a running handler; implemented in src/emulator/node_loop_send.cpp.
struct packet_target {
  emulated::placement placement = emulated::worker;
  coordinates target{};
  std::chrono::nanoseconds delay{0};
};
void post_packet(node_loop& loop, const emulated_handler& row, const packet_target& target,
                 const std::uint64_t* payload);
void post_task(node_loop& loop, const emulated_handler& row, emulated::placement placement,
               std::chrono::nanoseconds delay, const std::uint64_t* payload);
[[nodiscard]] void* state_of(node_loop& loop, std::uint32_t node, const emulated_state& row);
[[nodiscard]] const emulated_machine& machine_of(const node_loop& loop) noexcept;
[[nodiscard]] std::chrono::nanoseconds now_of(const node_loop& loop) noexcept;
[[nodiscard]] std::uint32_t thread_of(const node_loop& loop) noexcept;
[[nodiscard]] bool node_exists(const node_loop& loop, const coordinates& place) noexcept;
void charge_handler(node_loop& loop, std::chrono::nanoseconds cost);
/// The coroutine that runs continues when `delay` has passed since the end of this stretch.
void resume_after(node_loop& loop, std::chrono::nanoseconds delay);
/// Ends this stretch of the running coroutine; returns the number by which resume_coroutine continues it.
[[nodiscard]] std::uint32_t suspend_coroutine(node_loop& loop);
void resume_coroutine(node_loop& loop, std::uint32_t number);

/// The values of one type that have come to a node, and the coroutines that wait for one.
template <class T>
struct value_mailbox {
  std::deque<T> values;
  std::deque<std::pair<std::uint32_t, std::optional<T>*>> waiting;
};

}  // namespace detail

namespace detail {
/// The coroutines that wait for a value of another node's memory.
template <class T>
struct pending_gets {
  std::vector<std::pair<std::uint32_t, std::optional<T>*>> waiting;
};
template <class T>
void store_value(emulated_node& node, T value);
template <class T>
void answer_get(emulated_node& node, coordinates asker, std::uint32_t number);
}  // namespace detail

/// One node of the emulated machine, for the handler that runs on it. Valid during the handler; in a coroutine, until
/// it ends. Every call throws usage_error when it is misused; an error that leaves a handler ends the emulation with a
/// text that names node, thread and handler.
class emulated_node {
 public:
  emulated_node(detail::node_loop& loop, coordinates place, std::uint32_t node) noexcept
      : loop_(&loop), position_(place), node_(node) {}

  [[nodiscard]] const coordinates& at() const noexcept { return position_; }
  [[nodiscard]] const emulated_machine& machine() const noexcept { return detail::machine_of(*loop_); }
  /// Whether there is a node: inside of the grid, and none of the missing ones.
  [[nodiscard]] bool exists(const coordinates& other) const noexcept { return detail::node_exists(*loop_, other); }
  /// The virtual time at which the handler began, and its charges so far.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept { return detail::now_of(*loop_); }
  /// The number of the thread that runs the handler; communication threads come first.
  [[nodiscard]] std::uint32_t thread() const noexcept { return detail::thread_of(*loop_); }
  /// The number of the processor that this thread belongs to, by the machine's processor_threads.
  [[nodiscard]] std::uint32_t processor() const noexcept { return thread() / machine().processor_threads; }

  /// This node's own value of type T, made by its default constructor on first use. All handlers of the node share it.
  template <class T>
  [[nodiscard]] T& state() {
    return *static_cast<T*>(detail::state_of(*loop_, node_, detail::state_row_of<T>()));
  }
  /// Adds a cost to that of the handler.
  void charge(std::chrono::nanoseconds cost) { detail::charge_handler(*loop_, cost); }
  /// Adds the time of memory accesses by the machine's cycles. Other threads are not delayed.
  void charge_accesses(const emulated_accesses& emulated_accesses);
  /// Adds the time of floating-point operations: they begin at now(), or when the units of this thread's processor have
  /// begun those of handlers that charged theirs before. Handlers ask in the order of their starts.
  void charge_floats(const emulated_floats& emulated_floats);

  /// Runs F on a worker thread of the node `target`. Like all that a handler sends, the packet leaves at the handler's
  /// end.
  template <auto F, class... Args>
  void send(const coordinates& target, Args&&... args) {
    send<F>(emulated::worker, target, std::forward<Args>(args)...);
  }
  /// Runs F on a thread of the node `target` that `placement` permits: emulated::communication, emulated::thread(7).
  template <auto F, class... Args>
  void send(emulated::placement placement, const coordinates& target, Args&&... args) {
    const auto payload = packed<F>(std::forward<Args>(args)...);
    detail::post_packet(*loop_, detail::emulated_handler_of<F>(), {placement, target, {}}, payload.data());
  }
  /// Runs F on a worker thread of the node `target`; the packet leaves when `delay` has passed since the handler's end.
  template <auto F, class... Args>
  void send_after(std::chrono::nanoseconds delay, const coordinates& target, Args&&... args) {
    send_after<F>(emulated::worker, delay, target, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send_after(emulated::placement placement, std::chrono::nanoseconds delay, const coordinates& target,
                  Args&&... args) {
    const auto payload = packed<F>(std::forward<Args>(args)...);
    detail::post_packet(*loop_, detail::emulated_handler_of<F>(), {placement, target, delay}, payload.data());
  }
  /// Runs F on this node, once this handler has ended; no packet travels.
  template <auto F, class... Args>
  void add_task(Args&&... args) {
    after<F>(std::chrono::nanoseconds(0), std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void add_task(emulated::placement placement, Args&&... args) {
    after<F>(placement, std::chrono::nanoseconds(0), std::forward<Args>(args)...);
  }
  /// Runs F on this node when `delay` has passed since the end of this handler.
  template <auto F, class... Args>
  void after(std::chrono::nanoseconds delay, Args&&... args) {
    after<F>(emulated::worker, delay, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void after(emulated::placement placement, std::chrono::nanoseconds delay, Args&&... args) {
    const auto payload = packed<F>(std::forward<Args>(args)...);
    detail::post_task(*loop_, detail::emulated_handler_of<F>(), placement, delay, payload.data());
  }
  /// Sends a value to a coroutine of the node `target` that waits for one of this type, or will: see receive.
  template <class T>
  void send(const coordinates& target, const T& value);

  /// Puts a value into the memory of the node `target`: it becomes the state<T>() there. A communication thread does
  /// it.
  template <class T>
  void put(const coordinates& target, const T& value);

  /// Sends any number of values to the node `target`, which runs `void F(emulated_node& here, const coordinates& from,
  /// std::vector<T> data)` once all have come. `data` is a contiguous range of T, which is trivially copyable, of less
  /// than 4 GiB; it is copied. It travels in packets that hold 18 bytes less than the machine's (of 128, 64 or 32
  /// bytes); each costs a handler where it arrives, and F runs in the last one. What one node sends to another for one
  /// F and one placement is handed over in the order of the calls: data that are complete before their predecessor
  /// wait, and run right behind it. Needs packets of at least 32 bytes. Throws usage_error.
  template <auto F, class Range>
  void send_data(const coordinates& target, const Range& data) {
    send_data<F>(emulated::worker, target, data);
  }
  template <auto F, class Range>
  void send_data(emulated::placement placement, const coordinates& target, const Range& data);

  /// For the compiler: the result of sleep, to be awaited.
  struct sleep_awaiter {
    detail::node_loop* loop;
    std::chrono::nanoseconds delay;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    /// Sets the timer that resumes the coroutine.
    void await_suspend(std::coroutine_handle<>) const { detail::resume_after(*loop, delay); }
    void await_resume() const noexcept {}
  };
  /// In a coroutine handler: `co_await here.sleep(5us)` goes on when the time has passed since this stretch's end.
  [[nodiscard]] sleep_awaiter sleep(std::chrono::nanoseconds delay) const noexcept { return {loop_, delay}; }

  /// For the compiler: the result of receive, to be awaited.
  template <class T>
  struct receive_awaiter {
    emulated_node* node;
    std::optional<T> value{};
    [[nodiscard]] bool await_ready() {
      auto& box = node->state<detail::value_mailbox<T>>();
      if (box.values.empty()) return false;
      value = box.values.front();
      box.values.pop_front();
      return true;
    }
    /// Leaves the coroutine in the mailbox of its node.
    void await_suspend(std::coroutine_handle<>) {
      auto& box = node->state<detail::value_mailbox<T>>();
      box.waiting.emplace_back(detail::suspend_coroutine(*node->loop_), &value);
    }
    T await_resume() noexcept { return *value; }
  };
  /// In a coroutine handler: `co_await here.receive<T>()` takes the oldest value of type T that has been sent to this
  /// node, or waits for one. Coroutines that wait for one type are served in the order in which they began to wait.
  template <class T>
  [[nodiscard]] receive_awaiter<T> receive() noexcept {
    return {this};
  }

  /// For the compiler.
  template <class T>
  struct get_awaiter {
    emulated_node* node;
    coordinates source;
    std::optional<T> value{};
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    /// Asks the other node.
    void await_suspend(std::coroutine_handle<>) {
      const std::uint32_t number = detail::suspend_coroutine(*node->loop_);
      node->send<&detail::answer_get<T>>(emulated::communication, source, node->at(), number);
      node->state<detail::pending_gets<T>>().waiting.emplace_back(number, &value);  // not if the node was refused
    }
    T await_resume() noexcept { return *value; }
  };
  /// In a coroutine handler: `co_await here.get<T>({x, y, z})` is a copy of the state<T>() of that node, which one of
  /// its communication threads sends. Two packets travel.
  template <class T>
  [[nodiscard]] get_awaiter<T> get(const coordinates& source) noexcept {
    return {this, source};
  }

  /// For the emulator.
  [[nodiscard]] detail::node_loop& loop() const noexcept { return *loop_; }

 private:
  template <auto F, class... Args>
  static auto packed(Args&&... args) {
    using signature = detail::emulated_signature<decltype(F)>;
    std::array<std::uint64_t, signature::packet::words> payload;
    if constexpr (signature::packet::bytes % 8 != 0) payload.back() = 0;
    signature::pack(payload, std::forward<Args>(args)...);
    return payload;
  }

  detail::node_loop* loop_;
  coordinates position_;
  std::uint32_t node_;
};

namespace detail {
/// Runs where a value arrives: hands it to the coroutine that waits longest, or keeps it.
template <class T>
void take_value(emulated_node& node, T value) {
  auto& box = node.state<value_mailbox<T>>();
  if (box.waiting.empty()) {
    box.values.push_back(value);
    return;
  }
  const auto [number, destination] = box.waiting.front();
  box.waiting.pop_front();
  *destination = value;
  resume_coroutine(node.loop(), number);
}
}  // namespace detail

namespace detail {
template <class T>
void store_value(emulated_node& node, T value) {
  node.state<T>() = value;
}
/// Runs where a value comes back.
template <class T>
void take_got(emulated_node& node, std::uint32_t number, T value) {
  auto& waiting = node.state<pending_gets<T>>().waiting;
  const auto asked = std::find_if(waiting.begin(), waiting.end(), [&](const auto& one) { return one.first == number; });
  if (asked == waiting.end()) return;
  *asked->second = value;
  waiting.erase(asked);
  resume_coroutine(node.loop(), number);
}
template <class T>
void answer_get(emulated_node& node, coordinates asker, std::uint32_t number) {
  node.send<&take_got<T>>(emulated::communication, asker, number, node.state<T>());
}
}  // namespace detail

template <class T>
void emulated_node::put(const coordinates& target, const T& value) {
  send<&detail::store_value<T>>(emulated::communication, target, value);
}

template <class T>
void emulated_node::send(const coordinates& target, const T& value) {
  send<&detail::take_value<T>>(target, value);
}

}  // namespace nacre
