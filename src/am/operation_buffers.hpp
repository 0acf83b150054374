// SPDX-License-Identifier: Apache-2.0
// The bundles of operations of one thread context: opens them, and sends them.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/operation_buffers.hpp>

#include "exec/thread_context.hpp"

namespace nacre {

class container_module;

/// | slot of a target | operation fits | operation does not fit | flush |
/// |---|---|---|---|
/// | empty | opens a bundle | opens a bundle of its size | - |
/// | bundle, last run of the same kind | joins the run | leaves; as when empty | leaves |
/// | bundle, other kind | begins a run | leaves; as when empty | leaves |
///
/// The owning thread flushes when it runs out of work or waits. The poll loop sends bundles of a thread that is busy
/// elsewhere; it leaves pending operations alone, because no function of the program runs for them: only quiescence
/// waits for them, and that waits for their thread, too.
///
/// The room of a bundle doubles when one was full and halves when one left nearly empty, so that a thread with many
/// targets does not hold much.
class operation_aggregator final : public detail::operation_buffers, public send_buffer {
 public:
  operation_aggregator(thread_context& thread, container_module& space) noexcept
      : thread_(thread), space_(space), acting_thread_(&thread) {}

  /// Sends all, pending operations included. The owning thread.
  void flush(thread_context& thread) override;
  /// Sends the bundles. Any thread.
  void flush_bundles(thread_context& thread);
  /// Since when a bundle has been open, in ticks of the worker pool; 0: none is. Any thread.
  [[nodiscard]] std::uint64_t open_since() const noexcept {
    return open_since_.load(std::memory_order_acquire);  // pairs with the stores in open and send_all
  }

  /// Before any operation. `ranks`: of the job. The threads of all ranks begin their rotations in different places, so
  /// that those with few operations do not all choose the same targets.
  void set_stripes(std::uint32_t count, std::uint32_t ranks, std::uint32_t first_target) noexcept {
    stripes_ = count;
    targets_ = ranks * count;
    begin_rotation(first_target % targets_);
  }

  /// Bytes of a bundle that is full.
  static constexpr std::uint32_t room_max = 16 * 1024 - 128;
  static constexpr std::uint32_t room_min = 512;

 private:
  std::byte* claim_slowly(detail::operation_kind kind, std::uint32_t target, std::size_t bytes, bool aligned) override;
  void begin_pending(std::uint32_t container) override;
  void open(slot& slot, std::uint32_t target, std::size_t bytes);
  void close_run(slot& slot) noexcept;
  void send(slot& slot, std::uint32_t target);
  void send_all(thread_context& thread);

  thread_context& thread_;
  container_module& space_;
  thread_context* acting_thread_;  // the thread that holds the lock acts as this one
  std::atomic<std::uint64_t> open_since_{0};
};

}  // namespace nacre
