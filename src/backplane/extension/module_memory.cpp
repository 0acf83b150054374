// SPDX-License-Identifier: Apache-2.0
// Blocks of a bounded heap, linked so that they can be freed together.
#include "backplane/extension/module_memory.hpp"

#include <algorithm>
#include <new>

namespace nacre {

void* module_memory::do_allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, alignof(block_head));
  const std::size_t padding = padding_for(alignment);
  if (bytes > bytes_max_ || padding > bytes_max_ - bytes || bytes_ > bytes_max_ - bytes - padding) {
    exhausted_ = true;
    throw std::bad_alloc();
  }
  auto* const begin = static_cast<std::byte*>(::operator new(bytes + padding, std::align_val_t(alignment)));
  auto* const head = new (begin + padding - sizeof(block_head)) block_head{nullptr, first_, bytes + padding, alignment};
  if (first_ != nullptr) first_->previous = head;
  first_ = head;
  bytes_ += head->bytes;
  ++blocks_;
  return begin + padding;
}

void module_memory::do_deallocate(void* block, std::size_t, std::size_t) {
  free(*reinterpret_cast<block_head*>(static_cast<std::byte*>(block) - sizeof(block_head)));
}

void module_memory::free(block_head& head) noexcept {
  (head.previous != nullptr ? head.previous->after : first_) = head.after;
  if (head.after != nullptr) head.after->previous = head.previous;
  bytes_ -= head.bytes;
  --blocks_;
  const auto alignment = std::align_val_t(head.alignment);
  std::byte* const begin = reinterpret_cast<std::byte*>(&head + 1) - padding_for(head.alignment);
  ::operator delete(begin, alignment);
}

void module_memory::release() noexcept {
  while (first_ != nullptr) free(*first_);
}

}  // namespace nacre
