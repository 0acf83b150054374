// SPDX-License-Identifier: Apache-2.0
// What a block costs by itself, taken and released by one thread or by two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pools {

/// Where blocks come from.
struct source {
  std::string name;
  void* (*take)(std::size_t bytes) = nullptr;
  void (*release)(void* block) = nullptr;
};

/// Nacre's pools, glibc's malloc, and mimalloc if there is one on this machine.
[[nodiscard]] std::vector<source> all_sources();

/// The library of mimalloc, as dlopen takes it; empty if there is none.
[[nodiscard]] std::string_view mimalloc_library();

/// Seconds for one block that is taken, written in each of its pages, and released: by the same thread, some at a time;
/// or by another thread. Throws std::runtime_error when a block was damaged on the way.
[[nodiscard]] double one_thread(const source& source, std::size_t bytes);
[[nodiscard]] double two_threads(const source& source, std::size_t bytes);

}  // namespace pools
