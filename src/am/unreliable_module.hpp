// SPDX-License-Identifier: Apache-2.0
// The unreliable messages of a rank's mains and handlers: with{.reliable = false}.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>

#include <nacre/message.hpp>

#include "am/am_engine.hpp"
#include "am/datagram_fragments.hpp"
#include "transport/datagram_service.hpp"

namespace nacre {

/// Carries messages that may be lost.
///
/// | way to the target | leaves as | counts for quiescence |
/// |---|---|---|
/// | the transport has datagrams | fragments | from its arrival on |
/// | messages only | an ordinary message | as any other |
/// | the own rank, the own process | an ordinary message | as any other |
///
/// Fragments leave from their places in memory, unless another thread polls in that moment. They are lost by the
/// network. A message is dropped here while `waiting_bytes` wait for room, and at its receiver while `arrived_bytes` of
/// such messages have not run. An ordinary message is dropped only here; one that stays in the process, never.
///
/// Nobody has counted a message that comes as fragments, so it may come after quiescence was declared, and its handler
/// may create counted units then. So that these never outlive the job, a rank that ends stops to take messages before
/// it tells the others whether any has come since the declaration; see engine::wait_for_end.
///
/// `post`, and the questions: any thread; the rest belongs to the poll loop.
class unreliable_module final {
 public:
  static constexpr std::uint32_t label = 0;  ///< of its datagrams; those of extension modules are odd
  static constexpr std::uint64_t waiting_bytes_max = std::uint64_t{4} << 20;
  static constexpr std::uint64_t arrived_bytes_max = std::uint64_t{16} << 20;

  struct settings {
    std::uint64_t waiting_bytes = waiting_bytes_max, arrived_bytes = arrived_bytes_max;
  };
  unreliable_module(am_engine& messages, backplane& link, const settings& settings) noexcept;

  /// Sends `m` to a rank, with the bytes of `apart` behind its own. When it throws nothing has happened.
  void post(thread_context& thread, rank_id target, message_ptr m, std::span<const std::span<const std::byte>> apart);
  /// Whether messages wait here for room in the network. Any thread, as a hint.
  [[nodiscard]] bool waits() const noexcept { return waiting_bytes_.load(std::memory_order_relaxed) != 0; }

  /// A datagram with `label` has come.
  void take(thread_context& thread, const transport::received_datagram& datagram);
  /// At every thorough poll. Returns the time, on the clock, by which it must be called again.
  std::chrono::nanoseconds poll(thread_context& thread) {
    return waits() ? send_waiting(thread) : std::chrono::nanoseconds::max();
  }

  /// Whether this rank has sent or taken such a message as datagrams. Any thread, exact while nothing runs.
  [[nodiscard]] bool is_used() const noexcept {
    return next_number_.load(std::memory_order_relaxed) != 1 ||  // a number alone
           has_come_.load(std::memory_order_relaxed);            // a hint
  }
  /// Main is about to wait for the end of the job.
  void open() noexcept {
    has_taken_.store(false, std::memory_order_seq_cst);
    is_open_.store(true, std::memory_order_seq_cst);
  }
  /// From now on messages that come are dropped. Returns whether any has been taken since `open`.
  [[nodiscard]] bool close() noexcept {
    is_open_.store(false, std::memory_order_seq_cst);  // before the load: see take_whole
    return has_taken_.load(std::memory_order_seq_cst);
  }

 private:
  /// A message that has not left, or not with all its fragments.
  struct waiting_message {
    waiting_message(rank_id target_rank, message_ptr m, std::uint64_t number, std::size_t datagram_bytes,
                    std::uint32_t offset) noexcept;
    waiting_message(const waiting_message&) = delete;
    waiting_message& operator=(const waiting_message&) = delete;
    const rank_id target;
    const message_ptr content;
    const std::array<std::span<const std::byte>, 1> whole;
    outgoing_fragments fragments;
  };
  /// Of complete messages that have not run; they point to it as their body_ops.
  struct arrived_bytes : body_ops {
    arrived_bytes() noexcept : body_ops{nullptr, nullptr, &release, true} {}
    static void release(message& m) noexcept;
    std::atomic<std::uint64_t> sum{0};
  };

  [[nodiscard]] bool has_datagrams(rank_id target) const noexcept {
    return datagrams_ != nullptr && datagrams_->sends_to(target);
  }
  void post_message(thread_context& thread, rank_id target, message_ptr m);
  void post_datagrams(thread_context& thread, rank_id target, message_ptr m,
                      std::span<const std::span<const std::byte>> parts);
  [[nodiscard]] bool send(rank_id target, outgoing_fragments& fragments);
  void keep(rank_id target, message_ptr m, std::uint64_t number, std::uint32_t offset);
  std::chrono::nanoseconds send_waiting(thread_context& thread);
  void take_whole(thread_context& thread, message_ptr m);

  am_engine& messages_;
  backplane& link_;
  transport::datagram_service* const datagrams_;  // null: none
  const settings settings_;
  std::atomic<std::uint64_t> next_number_{1};
  std::atomic<std::uint64_t> waiting_bytes_{0};
  std::mutex mutex_;
  std::list<waiting_message> waiting_;  // under mutex_
  std::atomic<bool> is_open_{true};
  std::atomic<bool> has_taken_{false};  // since `open`
  std::atomic<bool> has_come_{false};
  incoming_fragments incoming_;
  arrived_bytes arrived_;
};

}  // namespace nacre
