// SPDX-License-Identifier: Apache-2.0
// The bounded heap of one extension module.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace nacre {

/// A memory resource with a limit, which knows all that it has given out. One thread at a time.
///
/// Invariant: the blocks in use form a list; bytes() is the sum of their sizes and heads, and never exceeds
/// bytes_max().
class module_memory final : public std::pmr::memory_resource {
 public:
  explicit module_memory(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  module_memory(const module_memory&) = delete;
  module_memory& operator=(const module_memory&) = delete;
  ~module_memory() override { release(); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }
  /// Whether a request has been refused.
  [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }
  /// Frees all blocks that are out. Nobody may use them any more.
  void release() noexcept;

 private:
  /// Stands in front of each block, at the end of its padding.
  struct block_head {
    block_head* previous;
    block_head* after;
    std::size_t bytes;  // of the whole allocation
    std::size_t alignment;
  };
  [[nodiscard]] static std::size_t padding_for(std::size_t alignment) noexcept {
    return (sizeof(block_head) + alignment - 1) / alignment * alignment;
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  void free(block_head& head) noexcept;

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::size_t blocks_ = 0;
  block_head* first_ = nullptr;
  bool exhausted_ = false;
};

}  // namespace nacre
