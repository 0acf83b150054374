// SPDX-License-Identifier: Apache-2.0
// The defining formulas for the number of children, in the order of operations that makes trees equal everywhere;
// `child_table` replaces them wherever there is a table.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tree_params.hpp"

namespace uts {
namespace {

/// The mean of a geometric tree's distribution by shape. Depth 0 always has mean b.
double geometric_mean(const tree_params& params, std::uint32_t depth) noexcept {
  const double b = params.branching;
  const double d = params.depth;
  if (depth == 0) return b;
  switch (params.shape) {
    case tree_shape::linear:
      return std::max(0.0, b * (1.0 - depth / d));
    case tree_shape::expdec:
      return b * std::pow(depth, -std::log(b) / std::log(d));
    case tree_shape::cyclic:
      return depth > 5 * d ? 0.0 : std::pow(b, std::sin(2.0 * 3.141592653589793 * depth / d));
    case tree_shape::fixed:
      return depth < params.depth ? b : 0.0;
  }
  return 0.0;
}

}  // namespace

child_rule rule_at(const tree_params& params, std::uint32_t depth) noexcept {
  switch (params.type) {
    case tree_type::binomial:
      return depth == 0 ? child_rule::constant : child_rule::binomial;
    case tree_type::geometric:
      return child_rule::geometric;
    case tree_type::hybrid:
      return depth < params.f * params.depth ? child_rule::geometric : child_rule::binomial;
    case tree_type::balanced:
      return child_rule::constant;
  }
  return child_rule::constant;
}

double mean_children(const tree_params& params, std::uint32_t depth) noexcept {
  switch (rule_at(params, depth)) {
    case child_rule::constant: {
      const bool has_children = params.type == tree_type::binomial || depth < params.depth;
      return has_children ? std::floor(params.branching) : 0.0;
    }
    case child_rule::binomial:
      return params.q * params.m;
    case child_rule::geometric:
      return geometric_mean(params, depth);
  }
  return 0.0;
}

std::uint32_t geometric_children(double mean, std::uint32_t draw) noexcept {
  const double p = 1.0 / (1.0 + mean);
  const double u = draw / 2147483648.0;
  const double n = std::floor(std::log(1.0 - u) / std::log(1.0 - p));
  return n >= 0 && n < children_max ? static_cast<std::uint32_t>(n) : children_max;
}

std::uint32_t children_by_formula(const tree_params& params, std::uint32_t depth, std::uint32_t draw) noexcept {
  switch (rule_at(params, depth)) {
    case child_rule::constant:
      return static_cast<std::uint32_t>(mean_children(params, depth));
    case child_rule::binomial:
      return draw / 2147483648.0 < params.q ? params.m : 0;
    case child_rule::geometric:
      return geometric_children(geometric_mean(params, depth), draw);
  }
  return 0;
}

}  // namespace uts
