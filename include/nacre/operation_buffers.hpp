// SPDX-License-Identifier: Apache-2.0
// Collects the operations of one thread context on containers, packed one behind the other, until they leave together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

class reader;
class thread_context;
class writer;

namespace detail {

/// The function and the container of an operation.
struct operation_kind {
  std::uint32_t row = 0;        ///< handler_id of its row
  std::uint32_t container = 0;  ///< number of the container
  friend bool operator==(const operation_kind&, const operation_kind&) = default;
};

/// A run: operations of one kind in a bundle, one behind the other. It begins at a multiple of 16 bytes.
struct run_header {
  operation_kind kind;
  std::uint32_t count = 0;  ///< operations
  std::uint32_t bytes = 0;  ///< behind this header
};
static_assert(sizeof(run_header) == 16);
inline constexpr std::size_t run_alignment = 16;
[[nodiscard]] constexpr std::size_t run_aligned(std::size_t bytes) noexcept {
  return (bytes + run_alignment - 1) & ~(run_alignment - 1);
}

/// The elements of one container on one rank: one part for each stripe of the rank. A derived class holds the elements.
class container_part {
 public:
  /// `key` identifies the derived class, `name` names it for people.
  container_part(const void* key, std::string_view name, std::uint32_t stripes)
      : key_(key), name_(name), states_(stripes) {}
  virtual ~container_part() = default;
  container_part(const container_part&) = delete;
  container_part& operator=(const container_part&) = delete;

  [[nodiscard]] const void* key() const noexcept { return key_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// While main reads or changes a stripe, operations that come for it are set aside. Under the lock of the stripe.
  struct stripe_state {
    std::uint32_t holds = 0;
    message_list aside;
  };
  [[nodiscard]] stripe_state& state(std::uint32_t stripe) noexcept { return states_[stripe]; }
  [[nodiscard]] std::uint32_t stripes() const noexcept { return static_cast<std::uint32_t>(states_.size()); }

  /// Whether an image can hold the elements: their class can be packed.
  [[nodiscard]] virtual bool may_save() const noexcept { return false; }
  /// Packs the elements. Throws what their classes throw.
  virtual void save(writer&) const {}
  /// Adds elements that `save` has written, of which all belong to this rank, up to the end. False: the bytes are none.
  [[nodiscard]] virtual bool load(reader&, std::uint32_t /*ranks*/) { return false; }
  /// Divides elements that `save` has written among the ranks of a job that had another number of them. Calls
  /// `written(rank)` behind each element, so that what is there may be taken.
  [[nodiscard]] virtual bool deal(reader&, std::span<writer> /*by_rank*/,
                                  const std::function<void(std::uint32_t rank)>& /*written*/) {
    return false;
  }

  /// The job has ended, so that nothing of the rank is left but this part. Main.
  void end_job() noexcept { job_ended_ = true; }
  [[nodiscard]] bool job_ended() const noexcept { return job_ended_; }

 private:
  bool job_ended_ = false;
  const void* key_;
  std::string_view name_;
  std::vector<stripe_state> states_;
};

/// The target of the row of an operation: a run that has arrived, and the stripe that it changes.
struct operation_run {
  std::span<const std::byte> bytes;  ///< begins at a multiple of 16 bytes
  std::uint32_t count = 0;
  container_part& part;
  std::uint32_t stripe = 0;
};

class operation_buffers;

/// Operations of a thread context on one container that are not packed yet.
class pending_operations {
 public:
  virtual ~pending_operations() = default;
  /// Packs all pending operations into `buffers`, whose lock is held. Throws what a function of the key throws, and
  /// for want of memory; what has not been packed is still pending then.
  virtual void flush(operation_buffers& buffers) = 0;
};

/// A place where an operation runs: a stripe of a rank.
struct operation_target {
  std::uint32_t rank = 0;
  std::uint32_t stripe = 0;
};

/// One bundle for each target that has operations. A bundle leaves when it is full, and at a flush.
///
/// Counting for quiescence: a bundle counts as created from the moment when it is opened, and as done when the last of
/// its operations has run. Pending operations count as one more unit while there are any.
///
/// Threads: the owning thread claims; any thread of the rank flushes. All that follows `lock` needs the lock.
class operation_buffers {
 public:
  virtual ~operation_buffers();
  operation_buffers(const operation_buffers&) = delete;
  operation_buffers& operator=(const operation_buffers&) = delete;

  void lock() noexcept {
    while (busy_.exchange(true, std::memory_order_acquire)) pause();  // pairs with unlock
  }
  void unlock() noexcept { busy_.store(false, std::memory_order_release); }  // pairs with lock

  /// Room for one operation of `bytes` bytes, which the caller fills before it unlocks. `aligned`: it begins at a
  /// multiple of 16 bytes. `target` is rank * stripes + stripe. Throws out_of_blocks, and usage_error when the
  /// container has ended or the operation is longer than a message may be; nothing has been added then.
  [[nodiscard]] std::byte* claim(operation_kind kind, std::uint32_t target, std::size_t bytes, bool aligned = false) {
    if (target < slots_.size() && !aligned) [[likely]] {
      slot& buffer = slots_[target];
      if (buffer.kind == kind && bytes <= buffer.room - buffer.used) [[likely]] {
        return take(buffer, bytes);
      }
    }
    return claim_slowly(kind, target, bytes, aligned);
  }

  /// The pending operations of a container; null before `keep_pending`.
  [[nodiscard]] pending_operations* pending_of(std::uint32_t container) const noexcept {
    return container < pending_.size() ? pending_[container].get() : nullptr;
  }
  /// Makes `all` the pending operations of a container. The owning thread, without the lock, which keeps main away, who
  /// may end another container at this moment.
  void keep_pending(std::uint32_t container, std::unique_ptr<pending_operations> all);
  /// Ends the pending operations of a container, of which none is left.
  void drop_pending(std::uint32_t container) noexcept {
    if (container < pending_.size()) pending_[container].reset();
  }
  /// Something is pending from now on, until the next flush. The owning thread, without the lock.
  void note_pending(std::uint32_t container) {
    if (!has_pending_) begin_pending(container);
    if (pending_last_ != container) list_pending(container);
  }

  /// Chooses a target by rotation, some operations in a row for each. The owning thread.
  [[nodiscard]] std::uint32_t next_target() noexcept { return (rotation_++ / in_a_row) % targets_; }

  /// Number of stripes of each rank.
  [[nodiscard]] std::uint32_t stripes() const noexcept { return stripes_; }
  /// Number of stripes of all ranks of this job, for every container; 1 before the first one has been made.
  [[nodiscard]] std::uint32_t targets() const noexcept { return targets_; }

 protected:
  operation_buffers() = default;
  void begin_rotation(std::uint32_t first_target) noexcept { rotation_ = first_target * in_a_row; }

  struct slot {
    message_ptr held;
    std::byte* body = nullptr;
    std::uint32_t used = 0, room = 0;  // bytes
    std::uint32_t run_at = 0;          // offset of the header of the last run
    operation_kind kind;               // of the last run; row 0: no bundle is held
    std::uint32_t next_room = 0;       // bytes of the next bundle
    bool listed = false;               // in open_
  };

  virtual std::byte* claim_slowly(operation_kind kind, std::uint32_t target, std::size_t bytes, bool aligned) = 0;
  virtual void begin_pending(std::uint32_t container) = 0;
  void list_pending(std::uint32_t container);
  static void pause() noexcept;
  [[nodiscard]] static std::byte* take(slot& buffer, std::size_t bytes) noexcept {
    reinterpret_cast<run_header*>(buffer.body + buffer.run_at)->count += 1;
    std::byte* const position = buffer.body + buffer.used;
    buffer.used += static_cast<std::uint32_t>(bytes);
    return position;
  }

  std::vector<slot> slots_;  // by target; made when first asked for
  std::vector<std::uint32_t> open_;
  std::vector<std::unique_ptr<pending_operations>> pending_;  // by container
  std::vector<std::uint32_t> pending_listed_;
  std::uint32_t pending_last_ = ~std::uint32_t{0};
  std::uint32_t stripes_ = 1;
  std::uint32_t targets_ = 1;
  std::uint32_t rotation_ = 0;
  bool has_pending_ = false;

 private:
  static constexpr std::uint32_t in_a_row = 8;  // operations for one target of the rotation

  std::atomic<bool> busy_{false};
};

}  // namespace detail
}  // namespace nacre
