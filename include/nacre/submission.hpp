// SPDX-License-Identifier: Apache-2.0
// Work that a thread of the program hands to a rank by a submitter.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nacre/block.hpp>

namespace nacre {

class engine;
class thread_context;

namespace detail {

/// The poll loop of the rank runs it.
class submission {
 public:
  submission() = default;
  submission(const submission&) = delete;
  submission& operator=(const submission&) = delete;
  virtual ~submission() = default;
  /// Inside the rank. Nobody can catch an exception of it.
  virtual void run(engine& core, thread_context& thread) = 0;

  submission* next = nullptr;  ///< link of the one queue that it is in
  std::size_t bytes = 0;       ///< of its arguments, packed

  // From the pool of the thread that hands it in; the poll loop gives it back.
  static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
  static void operator delete(void* block) noexcept { release_block(block); }
};

enum class when_full : std::uint8_t { wait, refuse };

}  // namespace detail
}  // namespace nacre
