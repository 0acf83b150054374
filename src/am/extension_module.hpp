// SPDX-License-Identifier: Apache-2.0
// The messages of a rank's extension modules, and its commands that wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/extension.hpp>
#include <nacre/rng.hpp>
#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "backplane/extension/extension_space.hpp"
#include "base/report_lines.hpp"

namespace nacre {

/// Carries the messages of extension modules as active messages that run in the poll loop, and hosts the modules.
///
/// Counting for quiescence: commands and answers are counted messages, and a deferred command is a unit until it is
/// answered. Control messages, datagrams and timers are uncounted: a module that owes an answer has a deferred command.
///
/// Commands are under the flow control of application messages. Control messages, short answers and datagrams travel on
/// channel::system, which needs no credit; the windows of attached_extension bound them. Long answers travel on
/// channel::bulk. Datagrams are those of the transport, where it has some; else, and to the own rank, they are
/// messages, and only full windows drop them.
class extension_module final : private extension_link {
 public:
  struct settings {
    std::uint64_t seed = 0;  ///< of the keys in virtual time; elsewhere they come from the kernel
    extension_limits limits{};
    const config* configuration = nullptr;             ///< for the factories of modules; outlives this object
    transport::datagram_service* datagrams = nullptr;  ///< of the transport; null: datagrams are messages
  };
  extension_module(am_engine& messages, clock& time, const settings& settings);

  /// Before the first poll.
  void add(attached_extension::parts parts, extension_access access) { space_.add(std::move(parts), access); }
  [[nodiscard]] const config& configuration() const noexcept { return configuration_; }
  [[nodiscard]] extension_keys& keys() noexcept { return space_.keys(); }

  /// Sends a command of a main or a handler; `result` gets its answer. Any thread.
  void command(thread_context& thread, rank_id target, const detail::extension_target& extension_target,
               std::span<const std::byte> bytes, detail::future_state& result);
  /// Runs `action` inside the poll loop. Any thread.
  void run_inside(thread_context& thread, std::function<void(extension_space&, thread_context&)> action);
  /// A datagram of a module has come. Inside the poll loop.
  void take(thread_context& thread, const transport::received_datagram& datagram);
  /// In the poll loop, at every thorough pass. Returns the time, on the clock, by which it must be called again.
  std::chrono::nanoseconds poll(thread_context& thread) {
    if (!space_.used()) return std::chrono::nanoseconds::max();
    thread_ = &thread;
    return space_.poll(thread);
  }
  /// Inside the poll loop: the thread context that runs it.
  [[nodiscard]] thread_context& running() const noexcept { return *thread_; }
  /// Whether timers are set, which may answer commands. Under simulation.
  [[nodiscard]] bool has_timers() const noexcept { return space_.has_timers(); }
  /// Appends a line for each command that a module here has deferred. Inside the poll loop, or while nothing runs.
  void name_deferred(report_lines& report) const { space_.name_deferred(report); }
  /// Whether modules are attached, or were. Before the first poll, or inside the poll loop.
  [[nodiscard]] bool used() const noexcept { return space_.used(); }

  // For the modules of other ranks, inside the poll loop.
  void on_control(context& ctx, std::uint64_t module, std::span<const std::byte> bytes);
  /// A control message of at most 8 bytes, which with its header fits one cache line.
  void on_control_word(context& ctx, std::uint32_t module, std::uint32_t bytes, std::uint64_t word);
  void on_datagram(context& ctx, std::uint64_t module, std::span<const std::byte> bytes);
  void on_handled(context& ctx, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams);
  void on_command(context& ctx, extension_command command, std::span<const std::byte> bytes);
  void on_answer(context& ctx, std::uint64_t asker, std::uint64_t request, bool failed,
                 std::span<const std::byte> bytes);
  /// A handler that this rank sends to itself: runs the actions that wait for the poll loop.
  void on_actions(context& ctx);

 private:
  static constexpr std::size_t datagram_message_bytes_max = 1200;

  void send_control(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool has_datagrams(rank_id target) const noexcept override {
    return datagrams_ != nullptr && datagrams_->sends_to(target);
  }
  bool send_datagram(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
    return datagrams_ != nullptr ? datagrams_->bytes_max() : datagram_message_bytes_max;
  }
  void send_handled(rank_id target, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams) override;
  void send_command(rank_id target, const extension_command& command, std::span<const std::byte> bytes) override;
  void send_answer(const extension_request& request, bool failed, std::span<const std::byte> bytes) override;
  void note_deferred() override { thread_->counters().created.add(1); }
  void note_answered() override { thread_->counters().done.add(1); }
  void charge(double seconds) override { messages_.pool().charge(*thread_, seconds); }
  [[nodiscard]] double charged() const override;
  void end_job(const std::string& reason) override { messages_.fail(reason); }
  [[nodiscard]] extension_key new_key();

  am_engine& messages_;
  const config& configuration_;
  transport::datagram_service* const datagrams_;  // null: none
  rng key_source_;                                // virtual time only, under the lock of extension_keys
  thread_context* thread_;                        // poll loop: the thread context that runs it
  std::mutex mutex_;
  std::deque<std::function<void(extension_space&, thread_context&)>> actions_;  // under mutex_
  extension_space space_;                                                       // last: modules that end use the others
};

}  // namespace nacre
