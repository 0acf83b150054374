// SPDX-License-Identifier: Apache-2.0
// Gives every thread its slab pool; new threads adopt the pools of ended threads.
#include <nacre/block.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "base/forked_child.hpp"
#include "base/large_pool.hpp"
#include "base/sanitized.hpp"
#include "base/slab_pool.hpp"

namespace nacre {

out_of_blocks::out_of_blocks(std::size_t bytes) noexcept : text_{} {
  const large_statistics held = process_large_pool().statistics();
  fmt::format_to_n(text_.data(), text_.size() - 1,
                   "no memory for a block of {} bytes ({} MiB of large blocks are in use): send less at a time, lower "
                   "receive_memory and send_memory, or raise the limit of the process (ulimit -v, or its cgroup)",
                   bytes, held.bytes_live >> 20);
}

#if NACRE_UNDER_ASAN

// The address sanitizer finds misuse of a block only if the block comes from its own allocator.
void* allocate_block(std::size_t bytes) {
  void* const block = bytes <= block_bytes_max ? ::operator new(bytes, std::nothrow) : nullptr;
  if (block == nullptr) throw out_of_blocks(bytes);
  return block;
}
void release_block(void* block) noexcept { ::operator delete(block); }
void disable_block_pools() noexcept {}
void flush_remote_frees() noexcept {}
pool_statistics process_pool_statistics() { return {}; }

#else

namespace {

/// All pools of the process. A pool outlives its thread, since other threads may still hold its blocks; the next new
/// thread adopts it.
class pool_registry {
 public:
  slab_pool* adopt_or_make() {
    const std::lock_guard lock(mutex_);
    if (orphans_.empty()) {
      orphans_.reserve(pools_.size() + 1);  // so that give_up cannot fail
      return pools_.emplace_back(std::make_unique<slab_pool>()).get();
    }
    slab_pool* const pool = orphans_.back();
    orphans_.pop_back();
    return pool;
  }

  void give_up(slab_pool* pool) noexcept {
    pool->flush_remote_frees();
    const std::lock_guard lock(mutex_);
    orphans_.push_back(pool);
  }

  pool_statistics statistics() {
    const std::lock_guard lock(mutex_);
    const large_statistics large = process_large_pool().statistics();
    pool_statistics sum{.large_bytes_live = large.bytes_live, .large_bytes_kept = large.bytes_kept};
    for (const auto& pool : pools_) {
      const pool_statistics one = pool->statistics();
      sum.bytes_held += one.bytes_held;
      sum.remote_frees += one.remote_frees;
    }
    return sum;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<slab_pool>> pools_;
  std::vector<slab_pool*> orphans_;
};

/// Read only by threads that have no pool.
constinit std::atomic<bool> pools_are_off{false};

/// Never destroyed: threads may end, and release blocks, after the static objects of the program are destroyed. It
/// stays reachable, so that a leak checker does not report it.
pool_registry& registry() {
  static pool_registry* const all = new pool_registry;
  return *all;
}

// This TLS model finds the variable without a call, also in a position-independent library.
[[gnu::tls_model("initial-exec")]] constinit thread_local slab_pool* own_pool = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool thread_is_ending = false;

/// Gives the thread's pool up when the thread ends.
class pool_guard {
 public:
  pool_guard() = default;
  pool_guard(const pool_guard&) = delete;
  pool_guard& operator=(const pool_guard&) = delete;
  /// In a process that a rank has forked nobody else takes the pool, and a thread that has stayed behind may have held
  /// the registry's lock.
  ~pool_guard() {
    if (is_forked_child()) return;
    registry().give_up(own_pool);
    own_pool = nullptr;
    thread_is_ending = true;
  }
};

[[gnu::cold, gnu::noinline]] void* allocate_first(std::size_t bytes) {
  if (pools_are_off.load(std::memory_order_relaxed)) return slab_pool::allocate_unpooled(bytes);  // a flag, no data
  if (thread_is_ending) {
    return bytes > slab_pool::pooled_bytes_max ? slab_pool::allocate_large(bytes) : slab_pool::allocate_unpooled(bytes);
  }
  try {
    own_pool = registry().adopt_or_make();
  } catch (const std::bad_alloc&) {
    throw out_of_blocks(bytes);
  }
  thread_local pool_guard guard;
  return own_pool->allocate(bytes);
}

}  // namespace

void* allocate_block(std::size_t bytes) {
  slab_pool* const pool = own_pool;
  if (pool == nullptr) [[unlikely]]
    return allocate_first(bytes);
  return pool->allocate(bytes);
}

void release_block(void* block) noexcept {
  if (block == nullptr) return;
  if (slab_pool* const pool = own_pool; pool != nullptr) [[likely]] {
    pool->release(block);
  } else {
    slab_pool::release_unpooled(block);
  }
}

void disable_block_pools() noexcept { pools_are_off.store(true, std::memory_order_relaxed); }

void flush_remote_frees() noexcept {
  if (own_pool != nullptr) own_pool->flush_remote_frees();
  process_large_pool().trim_when_due(std::chrono::steady_clock::now().time_since_epoch());
}

pool_statistics process_pool_statistics() { return registry().statistics(); }

#endif

}  // namespace nacre
