// SPDX-License-Identifier: Apache-2.0
// The slow paths of a slab pool: new slabs, and blocks that other pools return or that it returns to them.
#include "base/slab_pool.hpp"

#include <algorithm>
#include <chrono>

#include <nacre/assert.hpp>
#include <nacre/block.hpp>

#include "base/large_pool.hpp"

namespace nacre {

slab_pool::~slab_pool() {
  flush_remote_frees();
  while (slabs_ != nullptr) {
    slab* const next = slabs_->next;
    ::operator delete (slabs_, std::align_val_t{cache_line_bytes});
    slabs_ = next;
  }
}

void* slab_pool::allocate_slowly(std::size_t index, std::size_t bytes) {
  size_class& size_class = classes_[index];
  if (reclaim() && size_class.free != nullptr) {
    free_block* const block = size_class.free;
    size_class.free = block->next;
    block->head.state = live;
    return block->payload();
  }
  const std::size_t stride = strides_[index];
  if (size_class.unused == size_class.unused_end && !add_slab(size_class, stride)) throw out_of_blocks(bytes);
  auto* const block = new (size_class.unused) free_block{{this, static_cast<std::uint32_t>(index), live}, nullptr};
  size_class.unused += stride;
  return block->payload();
}

bool slab_pool::add_slab(size_class& size_class, std::size_t stride) noexcept {
  const std::size_t blocks = std::max<std::size_t>(slab_bytes_min / stride, 4);
  const std::size_t bytes = cache_line_bytes + blocks * stride;
  auto* const memory =
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{cache_line_bytes}, std::nothrow));
  if (memory == nullptr) return false;
  slabs_ = new (memory) slab{slabs_};
  size_class.unused = memory + cache_line_bytes;
  size_class.unused_end = size_class.unused + blocks * stride;
  // Only this thread writes the counter; readers need no order.
  bytes_held_.store(bytes_held_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  return true;
}

bool slab_pool::reclaim() noexcept {
  if (returned_.load(std::memory_order_relaxed) == nullptr) return false;      // a hint; the exchange decides
  free_block* block = returned_.exchange(nullptr, std::memory_order_acquire);  // pairs with the exchange in accept
  while (block != nullptr) {
    free_block* const next = block->next;
    keep(block);
    block = next;
  }
  return true;
}

void slab_pool::accept(free_block* first, free_block* last) noexcept {
  free_block* block = returned_.load(std::memory_order_relaxed);  // a guess; the exchange checks it
  do {
    last->next = block;
    // Publishes the links and gives up the blocks; pairs with the exchange in reclaim.
  } while (!returned_.compare_exchange_weak(block, first, std::memory_order_release, std::memory_order_relaxed));
}

void slab_pool::release_foreign(free_block* block) noexcept {
  slab_pool* const owner = block->head.owner;
  if (owner == nullptr) return release_unpooled(block->payload());
  block->head.state = dead;
  batch& going = batches_[(reinterpret_cast<std::uintptr_t>(owner) / sizeof(slab_pool)) % batch_places];
  if (going.owner != owner) {
    send_home(going);
    going.owner = owner;
  }
  block->next = going.first;
  going.first = block;
  if (going.last == nullptr) going.last = block;
  going.blocks += 1;
  going.bytes += strides_[block->head.size_class];
  if (going.blocks >= batch_blocks || going.bytes >= batch_bytes) send_home(going);
}

void slab_pool::send_home(batch& going) noexcept {
  if (going.blocks == 0) return;
  going.owner->accept(going.first, going.last);
  // Only this thread writes the counter; readers need no order.
  remote_frees_.store(remote_frees_.load(std::memory_order_relaxed) + going.blocks, std::memory_order_relaxed);
  going = {.owner = going.owner};
}

void slab_pool::flush_remote_frees() noexcept {
  for (batch& going : batches_) {
    send_home(going);
    going.owner = nullptr;
  }
}

void* slab_pool::allocate_unpooled(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes <= block_bytes_max) {
    memory = ::operator new(std::max(bytes + sizeof(header), sizeof(free_block)), std::nothrow);
  }
  if (memory == nullptr) throw out_of_blocks(bytes);
  return (new (memory) free_block{{nullptr, of_operator_new, live}, nullptr})->payload();
}

void* slab_pool::allocate_large(std::size_t bytes) {
  if (bytes > large_pool::bytes_max + large_pool::slack_bytes - sizeof(header)) return allocate_unpooled(bytes);
  // A round number of bytes, with some headers in front, fits into the class of that number.
  const std::size_t whole = bytes + sizeof(header);
  const std::uint32_t index = large_pool::class_of(whole - std::min(whole, large_pool::slack_bytes));
  void* const memory = process_large_pool().take(index);
  if (memory == nullptr) throw out_of_blocks(bytes);
  return (new (memory) free_block{{nullptr, index, live}, nullptr})->payload();
}

void slab_pool::release_unpooled(void* payload) noexcept {
  free_block* const block = block_of(payload);
  if (block->head.state != live) report_dead(block->head.state);
  block->head.state = dead;
  if (slab_pool* const owner = block->head.owner; owner != nullptr) {
    owner->accept(block, block);
  } else if (block->head.size_class == of_operator_new) {
    ::operator delete(block);
  } else {
    large_pool& large_pool = process_large_pool();
    large_pool.give_back(block, block->head.size_class);
    large_pool.trim_when_due(std::chrono::steady_clock::now().time_since_epoch());
  }
}

pool_statistics slab_pool::statistics() const noexcept {
  // Two separate loads of another thread's counters; no order between them is promised.
  return {.bytes_held = bytes_held_.load(std::memory_order_relaxed),
          .remote_frees = remote_frees_.load(std::memory_order_relaxed)};
}

void slab_pool::report_dead(std::uint32_t state) noexcept {
  NACRE_ASSERT(state != dead, "a block was released twice");
  NACRE_ASSERT(state == live, "released memory is not a block, or was overwritten below its start");
  __builtin_unreachable();
}

}  // namespace nacre
