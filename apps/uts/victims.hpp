// SPDX-License-Identifier: Apache-2.0
// Whom a thief asks.
#pragma once

#include <cstdint>
#include <nacre/ids.hpp>
#include <nacre/rng.hpp>
#include <vector>

namespace uts {

/// Chooses victims at random: any other rank; or, where hosts matter, `near_requests` ranks of the thief's own host in
/// a row before each one of another host. Where the thief has its host for itself, or all ranks are on it, hosts do not
/// matter. Without I/O; not thread-safe.
class victims {
 public:
  /// `hosts`: by rank, equal for ranks of one host; empty: unknown, and `near_requests` is 0. A thief that asks has
  /// another rank beside it.
  victims(nacre::rank_id self, std::uint32_t size, std::uint32_t near_requests,
          const std::vector<std::uint64_t>& hosts);

  [[nodiscard]] nacre::rank_id next(nacre::rng& random);
  /// The thief has got work: its next request goes to its own host again.
  void restart() noexcept { in_a_row_ = 0; }
  /// Whether a rank is on the thief's host, as far as hosts are known.
  [[nodiscard]] bool is_near(nacre::rank_id rank) const noexcept;

 private:
  [[nodiscard]] nacre::rank_id stranger(std::uint32_t index) const noexcept;

  const std::uint32_t self_;
  const std::uint32_t size_;
  const std::uint32_t near_requests_;
  // Ranks of the thief's host with itself, ascending; empty: not known. A table of all ranks on each is too large.
  std::vector<std::uint32_t> near_;
  std::uint32_t near_below_self_ = 0;
  std::uint32_t in_a_row_ = 0;  // requests to the own host since the last one to another, or since work
};

}  // namespace uts
