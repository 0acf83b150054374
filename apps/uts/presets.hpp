// SPDX-License-Identifier: Apache-2.0
// The named trees, and the sizes that are known from elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "traverse.hpp"
#include "tree_params.hpp"

namespace uts {

/// A size that a correct search must find. Not every source gives all three numbers.
struct known_size {
  std::string_view source;  ///< "published" or "closed form"
  std::uint64_t nodes = 0;
  std::optional<std::uint64_t> leaves{};
  std::optional<std::uint32_t> depth{};

  /// Whether all known numbers are those counted.
  [[nodiscard]] bool agrees_with(const tree_counts& counts) const noexcept;
};

/// A tree of the UTS benchmark with its published size.
struct preset {
  std::string_view name;
  tree_params params;
  known_size size;
};

/// All presets, smallest family first.
[[nodiscard]] std::span<const preset> presets();

/// The preset called `name`, letter case aside; throws nacre::setup_error, naming the nearest, if there is none.
[[nodiscard]] const preset& find_preset(std::string_view name);

/// The name of the preset that is the same tree; empty if there is none.
[[nodiscard]] std::string_view preset_name(const tree_params& params);

/// The size of the tree if it is known: a preset, a member of the published series (geometric, fixed, branching 4,
/// seed 19, depth 1 to 15), or a balanced tree below 2^63 nodes.
[[nodiscard]] std::optional<known_size> find_known_size(const tree_params& params);

}  // namespace uts
