// SPDX-License-Identifier: Apache-2.0
// The line of a simulation that would need too much memory, and the last line of one that has run out of it.
#include "runtime/memory_shortage.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre {
namespace {

// Resident memory, a little less than measured: tests/simulated_memory_test.cpp holds it. The first includes main's
// stack and two thread contexts.
constexpr std::uint64_t bytes_of_rank = 35'000;
constexpr std::uint64_t bytes_of_worker = 3'200;

[[nodiscard]] std::string in_gib(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1U << 30U));
}

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

std::uint64_t least_memory_of(const simulated_ranks& ranks) noexcept {
  return ranks.count * (bytes_of_rank + ranks.workers * bytes_of_worker);
}

void expect_memory_for(const simulated_ranks& ranks, std::optional<std::uint64_t> available) {
  const std::uint64_t least = least_memory_of(ranks);
  if (!available || least <= *available) return;
  throw setup_error(
      {fmt::format("{} simulated ranks of {} worker{} take {} of memory at least, and {} are free", ranks.count,
                   ranks.workers, ranks.workers == 1 ? "" : "s", in_gib(least), in_gib(*available)),
       "all of them live in this process, which the kernel would end",
       fmt::format("choose fewer ranks with --nacre.ranks{}, or a machine with more memory",
                   ranks.workers == 1 ? "" : ", fewer workers of each with --nacre.workers")});
}

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
