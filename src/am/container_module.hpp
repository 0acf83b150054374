// SPDX-License-Identifier: Apache-2.0
// The containers of a rank: which there are, and the operations on them that arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/operation_buffers.hpp>
#include <nacre/work.hpp>

#include "am/am_engine.hpp"
#include "am/operation_buffers.hpp"
#include "backplane/backplane.hpp"
#include "base/spinlock.hpp"

namespace nacre {

/// Runs the bundles for one stripe of a rank, one after the other, in the order of their arrival. So the operations of
/// one thread context on one key run in the order in which they were made, and no two at a time touch one stripe.
/// Functions of the program run here; what they do to containers goes into the buffers of the running thread, so an
/// executor is never entered while it runs.
class operation_executor final : public work {
 public:
  operation_executor(container_module& space, std::uint32_t stripe) noexcept
      : work(&run_item), space_(space), stripe_(stripe) {}

  /// Takes a bundle that has been counted as created. Any thread of the rank.
  void accept(thread_context& thread, message_ptr bundle);
  /// Takes messages that come before all others, and have been counted. Any thread of the rank.
  void accept_first(thread_context& thread, message_list& bundles);
  /// Held while a bundle runs, and by others that touch elements of the stripe.
  [[nodiscard]] spinlock& elements() noexcept { return elements_; }

 private:
  static void run_item(work& self, thread_context& thread);
  void run(thread_context& thread);
  void schedule(thread_context& thread);
  [[nodiscard]] message_ptr next();

  container_module& space_;
  const std::uint32_t stripe_;
  spinlock inbox_lock_;
  message_list inbox_;      // under inbox_lock_
  bool scheduled_ = false;  // under inbox_lock_: it is ready work, or runs
  spinlock elements_;
};

/// The containers of a rank. Main opens and closes them; their numbers are equal on all ranks, because all mains open
/// the same ones in one order. Elements live in one stripe for each worker of the rank with the fewest.
class container_module {
 public:
  container_module(am_engine& messages, backplane& link);
  container_module(const container_module&) = delete;
  container_module& operator=(const container_module&) = delete;

  [[nodiscard]] detail::operation_buffers& buffers(const thread_context& thread) noexcept {
    return *buffers_[thread.id().value()];
  }

  /// The number that the next container gets.
  [[nodiscard]] std::uint32_t next_container();
  /// The parts that are open, by number. Main.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, detail::container_part*>> parts();
  /// The next container gets at least this number. Main.
  void go_on_behind(std::uint32_t next);
  /// Fixes the number of stripes, before any operation; later calls give the same number.
  void set_stripes(std::uint32_t count);
  /// `part` must live until close. Main only, as all that follow.
  void open(std::uint32_t container, detail::container_part& part);
  /// Afterwards an operation for it ends the job.
  void close(std::uint32_t container);
  /// Tells the open parts that the job has ended: programs may keep them for longer than the rank lives.
  void end_job() noexcept;
  /// Owns the part of a container that stays open, until the end of the rank.
  void keep(std::unique_ptr<detail::container_part> part) { kept_.push_back(std::move(part)); }
  /// Operations that come for the container are set aside until `release`.
  void hold(detail::container_part& part);
  void release(thread_context& thread, detail::container_part& part);

  /// The part of an open container; null when it has ended or was never made. Any thread.
  [[nodiscard]] detail::container_part* find(std::uint32_t container);
  /// Throws usage_error when the container has ended, or was never made. Any thread.
  void check_open(std::uint32_t container);
  /// Held by a handler that looks at elements of the stripe.
  [[nodiscard]] spinlock& elements(std::uint32_t stripe) noexcept { return executors_[stripe]->elements(); }

  /// A bundle has been opened: the poll loop should see to it if its thread does not.
  void bundle_opened();
  /// Sends a bundle that has been counted. `thread` is the caller, `owner` the thread context whose bundle it is.
  void send(thread_context& thread, const thread_context& owner, detail::operation_target operation_target,
            message_ptr bundle);
  /// Inside the poll loop: sends bundles that have waited for too long. The result is as that of
  /// am_engine::flush_overdue.
  std::uint64_t flush_overdue(thread_context& thread);

  /// A bundle has arrived.
  void accept(thread_context& thread, message_ptr bundle);
  /// Runs a bundle, and leaves it to the caller. Under the lock of the stripe.
  void run(thread_context& thread, std::uint32_t stripe, message_ptr& bundle);
  [[nodiscard]] am_engine& messages() noexcept { return messages_; }

 private:
  bool run_one(thread_context& thread, std::uint32_t stripe, message_ptr& bundle, std::size_t& offset);
  void set_aside(detail::container_part& part, std::uint32_t stripe, const message& bundle,
                 std::span<const std::byte> run);
  [[nodiscard]] static std::string ended(std::uint32_t container);

  am_engine& messages_;
  backplane& link_;
  const std::uint64_t bound_ticks_;
  std::vector<std::unique_ptr<operation_aggregator>> buffers_;  // by thread context
  std::vector<std::unique_ptr<operation_executor>> executors_;  // by stripe
  spinlock containers_lock_;
  std::vector<std::unique_ptr<detail::container_part>> kept_;  // main
  std::vector<detail::container_part*> containers_{nullptr};   // by number, from 1; under containers_lock_; null: ended
};

}  // namespace nacre
