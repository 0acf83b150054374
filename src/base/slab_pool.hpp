// SPDX-License-Identifier: Apache-2.0
// Per-thread pools of blocks in size classes; any thread may free a block.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/cache_line.hpp"

namespace nacre {

/// The statistics of one pool, or of all pools of the process together.
struct pool_statistics {
  std::uint64_t bytes_held = 0;        ///< taken from the system for slabs, in use or not
  std::uint64_t remote_frees = 0;      ///< blocks of other pools that were freed through this pool or these pools
  std::uint64_t large_bytes_live = 0;  ///< of the process: large blocks in use
  std::uint64_t large_bytes_kept = 0;  ///< of the process: large blocks that wait for reuse
};

/// More bytes than any process can address: a larger request fails without asking the system.
inline constexpr std::size_t block_bytes_max = std::size_t{1} << 47;

/// A pool of blocks that one thread at a time uses. allocate_block and release_block (nacre/block.hpp) find the pool of
/// the calling thread and call this class.
///
/// A block's header of 16 bytes names its owner pool. A block freed through its owner goes to a free list at once. A
/// block freed through another pool joins a batch of blocks of the same owner. The other pool returns the batch by one
/// compare-exchange when it holds batch_blocks blocks or batch_bytes bytes, when a batch for another owner needs its
/// place, or at flush_remote_frees. So a pool keeps at most batch_places batches of foreign blocks. The owner collects
/// returned blocks when a free list is empty.
///
/// Free lists are last-in first-out, since the newest block is the warmest. Slabs stay until the pool is destroyed.
class slab_pool {
 public:
  /// The largest block that comes from slabs; a larger one is taken from the large pool of the process, and beyond its
  /// bound from operator new.
  static constexpr std::size_t pooled_bytes_max = 64 * 1024;

  slab_pool() = default;
  slab_pool(const slab_pool&) = delete;
  slab_pool& operator=(const slab_pool&) = delete;
  /// Returns foreign blocks, then gives all slabs back to the system. None of its blocks may be live.
  ~slab_pool();

  /// Does the work of allocate_block. The pool's thread only.
  [[nodiscard]] void* allocate(std::size_t bytes) {
    if (bytes > pooled_bytes_max) return allocate_large(bytes);
    const std::size_t index = class_of_units_[(bytes + sizeof(header) + unit_bytes - 1) / unit_bytes];
    size_class& size_class = classes_[index];
    free_block* const block = size_class.free;
    if (block == nullptr) return allocate_slowly(index, bytes);
    size_class.free = block->next;
    __builtin_prefetch(size_class.free);
    block->head.state = live;
    return block->payload();
  }

  /// Does the work of release_block; `payload` may belong to any pool. The pool's thread only.
  void release(void* payload) noexcept {
    free_block* const block = block_of(payload);
    if (block->head.state != live) report_dead(block->head.state);
    if (block->head.owner == this) {
      keep(block);
    } else {
      release_foreign(block);
    }
  }

  /// Returns all foreign blocks to their owners. A thread calls it before it sleeps. The pool's thread only.
  void flush_remote_frees() noexcept;

  /// Allocates without a pool of the thread, and release_unpooled releases without one; for threads that are ending.
  [[nodiscard]] static void* allocate_unpooled(std::size_t bytes);
  /// Allocates a block of more than pooled_bytes_max.
  [[nodiscard]] static void* allocate_large(std::size_t bytes);
  static void release_unpooled(void* payload) noexcept;

  /// Any thread.
  [[nodiscard]] pool_statistics statistics() const noexcept;

 private:
  /// Blocks are a multiple of this apart and start on a cache line, so that two threads never share one.
  static constexpr std::size_t unit_bytes = cache_line_bytes;
  static constexpr std::size_t slab_bytes_min = 64 * 1024;
  static constexpr std::size_t batch_places = 8;
  static constexpr std::uint32_t batch_blocks = 32;
  static constexpr std::size_t batch_bytes = 32 * 1024;

  /// Distance between blocks, header included. From 256 bytes on, each class fits a message with a payload of a round
  /// number of bytes and its head of 64 bytes, so that a full bundle wastes nothing.
  static constexpr std::array<std::uint32_t, 23> strides_{64,    128,   192,   256,   320,   384,   512,  640,
                                                          896,   1152,  1664,  2176,  3200,  4224,  6272, 8320,
                                                          12416, 16512, 24704, 32896, 49280, 57472, 65600};
  static constexpr std::size_t class_count = strides_.size();
  static constexpr std::size_t units_max = strides_.back() / unit_bytes;

  static constexpr std::uint32_t of_operator_new = ~std::uint32_t{0};
  enum block_state : std::uint32_t { live = 0x6c697665, dead = 0x64656164 };  // words that hardly occur by chance

  struct header {
    slab_pool* owner;          // null for a block that does not come from a slab
    std::uint32_t size_class;  // without an owner: the class in the large pool, or of_operator_new
    std::uint32_t state;
  };

  struct free_block {
    header head;
    free_block* next;  // the first bytes of the payload
    [[nodiscard]] void* payload() noexcept { return &next; }
  };

  struct slab {
    slab* next;
  };

  struct size_class {
    free_block* free = nullptr;
    std::byte* unused = nullptr;  // the part of the newest slab that was never given out
    std::byte* unused_end = nullptr;
  };

  struct batch {
    slab_pool* owner = nullptr;
    free_block* first = nullptr;
    free_block* last = nullptr;
    std::uint32_t blocks = 0;
    std::size_t bytes = 0;
  };

  static constexpr auto class_of_units_ = [] {
    std::array<std::uint8_t, units_max + 1> classes{};
    std::uint8_t current = 0;
    for (std::size_t units = 1; units <= units_max; ++units) {
      if (units * unit_bytes > strides_[current]) ++current;
      classes[units] = current;
    }
    return classes;
  }();

  [[nodiscard]] static free_block* block_of(void* payload) noexcept {
    return reinterpret_cast<free_block*>(static_cast<std::byte*>(payload) - sizeof(header));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void report_dead(std::uint32_t state) noexcept;

  void keep(free_block* block) noexcept {
    block->head.state = dead;
    size_class& size_class = classes_[block->head.size_class];
    block->next = size_class.free;
    size_class.free = block;
  }

  [[gnu::noinline]] void* allocate_slowly(std::size_t index, std::size_t bytes);
  [[gnu::noinline]] void release_foreign(free_block* block) noexcept;
  bool reclaim() noexcept;
  /// Returns false when the system has no memory.
  [[nodiscard]] bool add_slab(size_class& size_class, std::size_t stride) noexcept;
  void send_home(batch& going) noexcept;
  void accept(free_block* first, free_block* last) noexcept;

  std::array<size_class, class_count> classes_{};
  slab* slabs_ = nullptr;
  std::array<batch, batch_places> batches_{};
  std::atomic<std::uint64_t> bytes_held_{0};    // written by the pool's thread
  std::atomic<std::uint64_t> remote_frees_{0};  // written by the pool's thread
  alignas(cache_line_bytes) std::atomic<free_block*> returned_{nullptr};
};

/// Gives blocks of other threads, which the calling thread has freed, back to their owners. Unmaps large blocks that no
/// thread has needed for long. A thread calls it before it sleeps.
void flush_remote_frees() noexcept;

/// Returns the sums over all pools that allocate_block has made in this process, and the process's large blocks. All
/// zero in a build without pools (address sanitizer).
[[nodiscard]] pool_statistics process_pool_statistics();

}  // namespace nacre
