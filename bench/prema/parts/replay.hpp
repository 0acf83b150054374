// SPDX-License-Identifier: Apache-2.0
// Runs of the program synthetic, and rows of tables, for both of PREMA's tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bench {

/// The simulated network: what a message between objects took in all, half at each end, and no wire, which has none on
/// one host either. The median of
///   ladder --transport tcp --sizes 8,64KiB --runs 3 --only "mobile object on the other rank"
/// on a virtual machine of two cores. `costs` is a file of options that is taken instead, if it is not empty.
[[nodiscard]] std::vector<std::string> simulated_network(const std::string& costs);

/// Options for a machine of so many ranks, whose balancers act in the scale of computations, which take seconds here.
[[nodiscard]] std::vector<std::string> balanced_machine(int ranks, int cores_a_rank);

/// What one run has shown. Seconds.
struct figures {
  double seconds = 0, least = 0, most = 0, bound = 0;
  double overhead_least = 0, overhead_mean = 0, overhead_most = 0;  // of a simulated core
  long moves = 0;
};

/// Runs synthetic. `measures_overhead` is for simulated cores: of few and long handlers on threads, no measure by
/// samples tells what is between them. Throws std::runtime_error, with the command, when it fails.
[[nodiscard]] figures run_synthetic(const std::vector<std::string>& words, bool measures_overhead);

/// A column of nine characters: four digits, and from 1,000 s on all that stand before the point and one behind it.
[[nodiscard]] std::string column(double seconds);
inline constexpr const char* heading = "                           seconds    least     most  gain %  over LPT   moves";
inline constexpr const char* heading_of_overhead = "  ovh min ovh mean  ovh max";
[[nodiscard]] std::string row(const std::string& name, const figures& figures, double without);
[[nodiscard]] nlohmann::ordered_json json_of(int cores, const std::string& name, bool declared, const figures& figures,
                                             double without);

}  // namespace bench
