// SPDX-License-Identifier: Apache-2.0
// One search after the other on a simulated machine, each setting once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "rank_search.hpp"
#include "traverse.hpp"
#include "tree_params.hpp"

namespace study {

enum class mode { steal, share };

/// What is varied. An empty chunk or interval adapts itself.
struct setting {
  std::size_t tree = 0;  ///< index into laboratory::trees
  study::mode method = mode::steal;
  std::uint32_t ranks = 1;
  std::optional<std::uint32_t> chunk{};
  std::optional<std::uint32_t> interval{};
  std::uint64_t seed = 1;
  friend auto operator<=>(const setting&, const setting&) = default;
};

struct known_tree {
  std::string name;
  uts::tree_params params;
  uts::tree_counts counts;  ///< by the plain loop
};

/// A simulated machine and the trees to be searched on it.
class laboratory {
 public:
  /// Searches each tree once in a plain loop.
  laboratory(nacre::config machine, const uts::simulated_costs& costs, std::vector<known_tree> trees);

  [[nodiscard]] const std::vector<known_tree>& trees() const noexcept { return trees_; }
  /// Nodes per second of virtual time. Throws std::runtime_error when the search counts wrong. A setting that was
  /// measured before is not measured again: it would give the same.
  double speed(const setting& setting);
  /// The median over seeds 1 to `seeds`.
  double median_speed(setting setting, std::uint64_t seeds);
  /// Nodes per second of one rank that does nothing but search.
  [[nodiscard]] double ideal() const noexcept { return 1 / costs_.node; }
  [[nodiscard]] const std::map<setting, double>& measured() const noexcept { return measured_; }
  /// Of a setting that was measured: throws std::out_of_range otherwise.
  [[nodiscard]] const uts::search_result& result(const setting& setting) const { return results_.at(setting); }

 private:
  nacre::config machine_;
  uts::simulated_costs costs_;
  std::vector<known_tree> trees_;
  std::map<setting, double> measured_;
  std::map<setting, uts::search_result> results_;
};

/// "T1, stealing, 32 ranks, chunk 20, interval auto".
[[nodiscard]] std::string text(const laboratory& in, const setting& setting);

}  // namespace study
