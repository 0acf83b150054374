// SPDX-License-Identifier: Apache-2.0
// One-sided memory in the random program: what is exposed, put, got and withdrawn, and what it must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace campaign {

struct world;

/// Memory that a rank has exposed. The first half is written by transfers that somebody awaits, each element by one at
/// a time, so that `expected` is exact. To the second half only `filler` is ever put, by transfers whose futures are
/// dropped; their memory is then overwritten, so that whatever reads it too late shows.
struct exposed_memory {
  nacre::remote_memory<std::uint32_t> handle;
  std::vector<std::uint32_t> content;
  std::vector<std::uint32_t> expected;                           ///< of the first half
  std::vector<std::pair<std::size_t, std::size_t>> under_way{};  ///< ranges of the first half: begin, end
  bool withdrawn = false;
};

/// A put or get that somebody awaits.
struct pending_transfer {
  exposed_memory* memory = nullptr;
  bool puts = false;
  bool withdrawn_before = false;
  std::size_t begin = 0;
  std::unique_ptr<std::vector<std::uint32_t>> local_memory{};
  nacre::future<void> done{};
};

/// All memory of one job.
struct memories {
  std::deque<exposed_memory> all;
  std::vector<std::vector<std::uint32_t>> taken_back;  ///< the memory of dropped transfers, overwritten since

  /// Everything that was put is in place, and nothing was touched that should not have been.
  void must_be_quiet(world& in, const std::string& moment);
};

/// Exposes, withdraws, or drops a put or get, at random; for any handler or main.
void use_memory(world& in, nacre::operations& op);

/// Begins a random put or get; of.of is null when there is nothing to access.
[[nodiscard]] pending_transfer begin_transfer(world& in, nacre::operations& op);
/// Awaits it, and looks at what it has done.
nacre::task<void> finish(world& in, pending_transfer begun);
/// The same in a main.
void finish_in_main(world& in, pending_transfer begun);

}  // namespace campaign
