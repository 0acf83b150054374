// SPDX-License-Identifier: Apache-2.0
// The last line of a simulation that has run out of memory.
#include "runtime/memory_shortage.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace nacre {
namespace {

std::uint32_t watched_ranks = 0;
bool missed = false;  // an allocation has failed since the watch began
std::terminate_handler before_watch = nullptr;

/// Acts as operator new without a new-handler, but notes the failure.
[[noreturn]] void on_missing() {
  missed = true;
  throw std::bad_alloc();
}

[[noreturn]] void on_terminate() {
  const std::exception_ptr thrown = std::current_exception();
  if (thrown == nullptr && missed) end_for_want_of_memory(watched_ranks);  // from a destructor, while it unwinds
  try {
    if (thrown != nullptr) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_for_want_of_memory(watched_ranks);
  } catch (...) {
    std::set_terminate(before_watch);
  }
  if (before_watch != nullptr) before_watch();
  std::abort();
}

}  // namespace

void end_for_want_of_memory(std::uint32_t ranks) noexcept {
  std::fflush(stdout);
  std::array<char, 512> line;
  const int length = std::snprintf(
      line.data(), line.size(),
      "nacre: no memory is left for %u simulated ranks (all live in this process, and each has a stack of "
      "its own): choose fewer with --nacre.ranks, or raise the limits of memory (ulimit -v) and of "
      "mappings (sysctl vm.max_map_count)\n",
      ranks);
  const ssize_t written = ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(std::max(length, 0)));
  static_cast<void>(written);  // an error cannot be reported any more
  std::_Exit(1);
}

memory_watch::memory_watch(std::uint32_t ranks) noexcept {
  watched_ranks = ranks;
  missed = false;
  if (std::get_new_handler() == nullptr) std::set_new_handler(&on_missing);
  before_watch = std::set_terminate(&on_terminate);
}

memory_watch::~memory_watch() {
  std::set_terminate(before_watch);
  if (std::get_new_handler() == &on_missing) std::set_new_handler(nullptr);
}

}  // namespace nacre
