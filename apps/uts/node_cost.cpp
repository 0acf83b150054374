// SPDX-License-Identifier: Apache-2.0
// Measures stretches of a search by the processor time of this thread, which others on this host do not lengthen much.
#include "node_cost.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <system_error>
#include <utility>

#include "search.hpp"

namespace uts {
namespace {

constexpr std::uint64_t nodes_a_step = 1024, nodes_a_stretch = 200'000;
constexpr int stretches = 30;
constexpr double seconds_max = 100;  // some thousand nodes, which a handler generates, may be charged at once

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double measured_seconds_a_node(const tree_params& params, const sha1_kernel& sha1) {
  const tree searched(params);
  const std::uint64_t hashes = std::max<std::uint64_t>(1, params.granularity);
  double least = 1e300;
  search part = search::of_whole(searched);
  for (int stretch = 0; stretch < stretches; ++stretch) {
    const double begin = processor_seconds();
    std::uint64_t nodes = 0;
    while (nodes < nodes_a_stretch / hashes + 1) {
      if (part.finished()) part = search::of_whole(searched);  // a small tree, again
      const std::uint64_t previous = part.counts().nodes;
      part.advance(searched, sha1, nodes_a_step / hashes + 1);
      nodes += std::max<std::uint64_t>(1, part.counts().nodes - previous);
    }
    least = std::min(least, (processor_seconds() - begin) / static_cast<double>(nodes * hashes));
  }
  return least;
}

std::optional<node_cost> parse_node_cost(std::string_view text) {
  if (text == "measured") return node_cost{.measured = true};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  for (const auto& [name, seconds] : units) {
    if (error == std::errc() && unit == name && number >= 0 && number * seconds <= seconds_max)
      return node_cost{.seconds = number * seconds};
  }
  return std::nullopt;
}

}  // namespace uts
