// SPDX-License-Identifier: Apache-2.0
// What the ladder has measured: for each rung and size the time of a round trip, and of a message in a stream.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/sample.hpp"

namespace ladder {

using nacre::calibration::sample;

/// The values of all runs, and what to print of them.
struct spread {
  double median = 0, least = 0, most = 0;
  [[nodiscard]] bool empty() const noexcept { return median <= 0; }
};
[[nodiscard]] spread spread_of(std::vector<double> values);

enum class role {
  floor,  ///< the thing itself, by hand; the best of a transport is what its rungs are compared with
  rung    ///< a layer of Nacre
};

/// All samples of one rung, by size.
struct series {
  std::string transport;
  std::string name;
  ladder::role role = ladder::role::rung;
  std::string unit = "round trip";                                       ///< what one time is of
  std::map<std::size_t, std::vector<double>> round_trips{}, one_ways{};  // seconds

  [[nodiscard]] spread round_trip(std::size_t bytes) const;
  [[nodiscard]] spread one_way(std::size_t bytes) const;
};

/// The rungs in the order in which they first came.
class figures {
 public:
  void add(std::string_view transport, std::string_view name, role as, const sample& value,
           std::string_view unit = "round trip");
  [[nodiscard]] const std::vector<series>& all() const noexcept { return all_; }
  /// What the times of a rung at a size are compared with, each for itself: the best floor of its transport at that
  /// size; empty if there is none.
  struct best {
    spread round_trip, one_way;
  };
  [[nodiscard]] best floor_of(const series& rung, std::size_t bytes) const;
  [[nodiscard]] std::vector<std::string> transports() const;

 private:
  std::vector<series> all_;
};

}  // namespace ladder
