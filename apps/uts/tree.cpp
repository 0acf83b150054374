// SPDX-License-Identifier: Apache-2.0
// The tables of a tree, depth by depth.
#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace uts {
namespace {

/// The least depth from which on every node follows the same rule with the same mean; `depths_max` if that lies deeper.
std::uint32_t uniform_from(const tree_params& params, std::uint32_t depths_max) {
  double depth = 0;
  switch (params.type) {
    case tree_type::binomial:
      depth = 1;
      break;
    case tree_type::geometric:
      depth = params.shape == tree_shape::cyclic ? 5.0 * params.depth + 1 : params.depth;
      if (params.shape == tree_shape::expdec) depth = depths_max;
      break;
    case tree_type::hybrid:
      depth = std::ceil(params.f * params.depth);
      break;
    case tree_type::balanced:
      depth = params.depth;
      break;
  }
  return static_cast<std::uint32_t>(std::min<double>(depth, depths_max));
}

}  // namespace

tree::tree(const tree_params& params, std::size_t tables_max) : params_(params) {
  validate(params);
  build_tables(tables_max);
  build_expectations();
}

void tree::build_tables(std::size_t tables_max) {
  constexpr std::uint32_t depths_max = 6'000'000;
  // A tree of shape expdec has no depth from which on it is uniform: the formula takes over below these.
  constexpr std::uint32_t expdec_depths = 1024;
  const bool expdec = rule_at(params_, 1) == child_rule::geometric && params_.shape == tree_shape::expdec;
  const bool endless = expdec && params_.type == tree_type::geometric;
  const std::uint32_t last = uniform_from(params_, endless ? expdec_depths : depths_max);

  std::map<std::pair<child_rule, double>, std::uint32_t> known;
  const auto add = [this](const child_table& table) {
    tables_.push_back(table);
    return static_cast<std::uint32_t>(tables_.size() - 1);
  };
  const std::uint32_t formula = add(child_table::formula());
  for (std::uint32_t depth = 0; depth <= last; ++depth) {
    const child_rule rule = rule_at(params_, depth);
    const double mean = mean_children(params_, depth);
    const auto match = known.find({rule, mean});
    std::uint32_t index = formula;
    if (match != known.end()) {
      index = match->second;
    } else if (known.size() < tables_max && !(endless && depth == last)) {
      if (rule == child_rule::constant) index = add(child_table::constant(static_cast<std::uint32_t>(mean)));
      if (rule == child_rule::binomial) index = add(child_table::binomial(params_.q, params_.m));
      if (rule == child_rule::geometric) index = add(child_table::geometric(mean));
      known.emplace(std::pair{rule, mean}, index);
    }
    table_of_depth_.push_back(index);
  }
}

void tree::build_expectations() {
  constexpr double expectation_max = 1e15;
  const auto capped = [&](double nodes) { return std::min(nodes, expectation_max); };
  expected_.resize(table_of_depth_.size());
  const double last_mean = mean_children(params_, last_depth());
  // Subtree of a node that may be a leaf, the node included: 1 + mean + mean^2 + .. where the mean stays the same.
  double subtree = last_mean < 1 ? capped(1 / (1 - last_mean)) : expectation_max;
  for (std::uint32_t depth = last_depth() + 1; depth-- > 0;) {
    const double mean = mean_children(params_, depth);
    double mean_if_any = mean;
    if (rule_at(params_, depth) == child_rule::geometric) mean_if_any = 1 + mean;
    if (rule_at(params_, depth) == child_rule::binomial) mean_if_any = params_.m;
    expected_[depth] = capped(mean_if_any * subtree);
    subtree = capped(1 + mean * subtree);
  }
}

std::shared_ptr<const tree> shared_tree(const tree_params& params) {
  static std::mutex mutex;
  static std::shared_ptr<const tree> latest;
  const std::scoped_lock lock(mutex);
  if (!latest || !(latest->params() == params)) latest = std::make_shared<const tree>(params);
  return latest;
}

}  // namespace uts
