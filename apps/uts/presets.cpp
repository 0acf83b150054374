// SPDX-License-Identifier: Apache-2.0
// The table of named trees. Sizes: the UTS distribution's sample trees; T1WL and the series: later publications.
#include "presets.hpp"

#include <array>
#include <cmath>
#include <nacre/error.hpp>
#include <string>

#include "nearest_name.hpp"

namespace uts {
namespace {

using enum tree_type;

constexpr tree_params geometric_tree(tree_shape shape, std::uint32_t depth, double branching, std::uint32_t seed) {
  return {.type = geometric, .shape = shape, .branching = branching, .depth = depth, .seed = seed};
}

constexpr tree_params binomial_tree(double branching, double q, std::uint32_t m, std::uint32_t seed) {
  return {.type = binomial, .branching = branching, .seed = seed, .q = q, .m = m};
}

constexpr known_size published(std::uint64_t nodes, std::uint32_t depth, std::uint64_t leaves) {
  return {"published", nodes, leaves, depth};
}

constexpr tree_params t4_params{
    .type = hybrid, .shape = tree_shape::linear, .branching = 6, .depth = 16, .seed = 1, .q = 0.234375, .m = 4};

constexpr std::array preset_table{
    preset{"T1", geometric_tree(tree_shape::fixed, 10, 4, 19), published(4130071, 10, 3305118)},
    preset{"T2", geometric_tree(tree_shape::cyclic, 16, 6, 502), published(4117769, 81, 2342762)},
    preset{"T3", binomial_tree(2000, 0.124875, 8, 42), published(4112897, 1572, 3599034)},
    preset{"T4", t4_params, published(4132453, 134, 3108986)},
    preset{"T5", geometric_tree(tree_shape::linear, 20, 4, 34), published(4147582, 20, 2181318)},
    preset{"T1L", geometric_tree(tree_shape::fixed, 13, 4, 29), published(102181082, 13, 81746377)},
    preset{"T2L", geometric_tree(tree_shape::cyclic, 23, 7, 220), published(96793510, 67, 53791152)},
    preset{"T3L", binomial_tree(2000, 0.200014, 5, 7), published(111345631, 17844, 89076904)},
    preset{"T1XL", geometric_tree(tree_shape::fixed, 15, 4, 29), published(1635119272, 15, 1308100063)},
    preset{"T1XXL", geometric_tree(tree_shape::fixed, 15, 4, 19), published(4230646601, 15, 3384495738)},
    preset{"T3XXL", binomial_tree(2000, 0.499995, 2, 316), published(2793220501, 99049, 1396611250)},
    preset{"T2XXL", binomial_tree(2000, 0.499999995, 2, 0), published(10612052303, 216370, 5306027151)},
    preset{"T1WL", geometric_tree(tree_shape::fixed, 18, 4, 19), published(270751679750, 18, 216601257283)},
};

/// Nodes of the geometric trees of shape fixed with branching 4 and seed 19, by depth from 1 on.
constexpr std::array<std::uint64_t, 15> series_nodes{6,        65,       254,       944,        3987,
                                                     16000,    63914,    257042,    1031269,    4130071,
                                                     16526523, 66106929, 264459392, 1057675516, 4230646601};

std::optional<known_size> balanced_size(const tree_params& params) {
  const auto b = static_cast<std::uint64_t>(params.branching);
  constexpr std::uint64_t nodes_max = std::uint64_t{1} << 63;
  std::uint64_t level = 1;
  std::uint64_t nodes = 1;
  if (b == 0) return known_size{"closed form", 1, 1, 0};
  for (std::uint32_t depth = 0; depth < params.depth; ++depth) {
    if (level > (nodes_max - nodes) / b) return std::nullopt;
    level *= b;
    nodes += level;
  }
  return known_size{"closed form", nodes, level, params.depth};
}

}  // namespace

bool known_size::agrees_with(const tree_counts& counts) const noexcept {
  return counts.nodes == nodes && leaves.value_or(counts.leaves) == counts.leaves &&
         depth.value_or(counts.depth) == counts.depth;
}

std::span<const preset> presets() { return preset_table; }

const preset& find_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const preset& p : preset_table) {
    if (equal_ignoring_case(p.name, name)) return p;
    names.push_back(p.name);
  }
  throw nacre::setup_error({"there is no tree '" + std::string(name) + "'", "--tree takes the name of a known tree",
                            "did you mean " + std::string(nearest_name(name, names)) + "? --list shows them all"});
}

std::string_view preset_name(const tree_params& params) {
  for (const preset& p : preset_table) {
    if (same_tree(p.params, params)) return p.name;
  }
  return {};
}

std::optional<known_size> find_known_size(const tree_params& params) {
  for (const preset& p : preset_table) {
    if (same_tree(p.params, params)) return p.size;
  }
  for (std::uint32_t depth = 1; depth <= series_nodes.size(); ++depth) {
    if (same_tree(params, geometric_tree(tree_shape::fixed, depth, 4, 19))) {
      return known_size{"published", series_nodes[depth - 1], {}, {}};
    }
  }
  if (params.type == balanced) return balanced_size(params);
  return std::nullopt;
}

}  // namespace uts
