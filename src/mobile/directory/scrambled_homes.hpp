// SPDX-License-Identifier: Apache-2.0
// For tests: homes that have nothing to do with births.
#pragma once

#include <cstdint>
#include <memory>

#include <nacre/config.hpp>
#include <nacre/ids.hpp>

#include "mobile/directory/homes.hpp"

namespace nacre {

/// Draws the home of each block of 16 names from a seed. Twice as many births as ranks are in use, so half of all names
/// have a birth that is no rank. A job that runs with these homes shows that nothing takes a birth for a home.
class scrambled_homes final : public home_table {
 public:
  scrambled_homes(std::uint32_t ranks, std::uint64_t seed) noexcept : ranks_(ranks), seed_(seed) {}
  /// As the hidden option homes.scramble says; null: homes are births.
  [[nodiscard]] static std::shared_ptr<const home_table> by_option(const config& configuration, std::uint32_t ranks) {
    const auto seed = static_cast<std::uint64_t>(configuration.get_int("homes.scramble"));
    return seed == 0 ? nullptr : std::make_shared<scrambled_homes>(ranks, seed);
  }

  [[nodiscard]] rank_id home_of(object_id id) const noexcept override {
    const std::uint32_t birth = id.birth().value();
    if (birth >= births()) return id.birth();
    return rank_id((birth % ranks_ + drawn(id.index()) % ranks_) % ranks_);
  }
  [[nodiscard]] object_id new_name(rank_id home, std::uint64_t index) const override {
    const std::uint32_t low = (home.value() + ranks_ - drawn(index) % ranks_) % ranks_;
    return {rank_id(low + (index % 2 == 0 ? ranks_ : 0)), index};
  }
  [[nodiscard]] std::uint32_t births() const noexcept override { return 2 * ranks_; }

 private:
  /// Equal for all indices of a block.
  [[nodiscard]] std::uint32_t drawn(std::uint64_t index) const noexcept {
    return static_cast<std::uint32_t>(detail::mix_bits(index / names_a_block * 0x2545f4914f6cdd1dU + seed_) >> 32);
  }

  const std::uint32_t ranks_;
  const std::uint64_t seed_;
};

}  // namespace nacre
