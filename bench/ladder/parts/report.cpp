// SPDX-License-Identifier: Apache-2.0
// Prints medians with least and most, the ratio to the floor of the transport at the same size, and the same as files.
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/rungs.hpp"
#include "figures_file.hpp"
#include "plot.hpp"

namespace ladder {
namespace {

std::string size_text(std::size_t bytes) {
  if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= (1u << 10) && bytes % (1u << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

/// Three to four digits, in the unit that suits.
std::string time_text(double seconds) {
  if (seconds < 0.99995e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 0.99995e-3) return fmt::format("{:.{}f} us", seconds * 1e6, seconds < 9.9995e-6 ? 2 : 1);
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string rate_text(double one_way_seconds) {
  const double rate = 1 / one_way_seconds;
  return rate >= 1e6 ? fmt::format("{:.2f} M/s", rate * 1e-6) : fmt::format("{:.1f} k/s", rate * 1e-3);
}

double mib_per_second(std::size_t bytes, const spread& one_way) {
  return static_cast<double>(bytes) / one_way.median / (1 << 20);
}

std::set<std::size_t> sizes_of(const series& rung) {
  std::set<std::size_t> sizes;
  for (const auto& [bytes, times] : rung.round_trips) sizes.insert(bytes);
  for (const auto& [bytes, times] : rung.one_ways) sizes.insert(bytes);
  return sizes;
}

std::string ratio_text(double ours, double floor) { return floor > 0 ? fmt::format("{:.2f}", ours / floor) : ""; }

void print_rung(const figures& measured, const series& rung) {
  fmt::print("  {}{}\n", rung.name, rung.unit == "round trip" ? "" : fmt::format(" ({})", rung.unit));
  for (const std::size_t bytes : sizes_of(rung)) {
    const spread trip = rung.round_trip(bytes);
    const spread one_way = rung.one_way(bytes);
    const auto [floor_trip, floor_one_way] = measured.floor_of(rung, bytes);
    fmt::print("  {:>8} {:>10} {:>10} {:>10} {:>6}", size_text(bytes), trip.empty() ? "" : time_text(trip.median),
               trip.empty() ? "" : time_text(trip.least), trip.empty() ? "" : time_text(trip.most),
               !trip.empty() ? ratio_text(trip.median, floor_trip.median) : "");
    if (!one_way.empty()) {
      fmt::print(" {:>12} {:>10.1f} {:>10.1f} {:>10.1f} {:>6}", rate_text(one_way.median),
                 mib_per_second(bytes, one_way), static_cast<double>(bytes) / one_way.most / (1 << 20),
                 static_cast<double>(bytes) / one_way.least / (1 << 20),
                 !floor_one_way.empty() ? ratio_text(floor_one_way.median, one_way.median) : "");
    }
    fmt::print("\n");
  }
}

/// Rungs have the same colour over every transport.
std::size_t colour_of(std::string_view name) {
  namespace rung = nacre::calibration::rung;
  constexpr std::array order{rung::poll_loop, rung::control,   rung::worker, rung::object,
                             rung::direct,    rung::forwarded, rung::moved};
  return 1 + static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin());
}

}  // namespace

void print_table(const figures& measured, int runs) {
  fmt::print(
      "Median, least and most of {} runs. Latency: a round trip; the ratio is to the floor, 1 is best, less is "
      "faster.\n"
      "Streams: messages one way, their rate and MiB/s; the ratio is to the best floor, 1 is best, more is faster.\n"
      "Payloads of more than 8 B: a std::span, copied into the message and viewed in it; as a buffer, without a "
      "copy.\n",
      runs);
  for (const std::string& transport : measured.transports()) {
    fmt::print("\n{:<10} {:>10} {:>10} {:>10} {:>6} {:>12} {:>10} {:>10} {:>10} {:>6}\n", transport, "round trip",
               "least", "most", "ratio", "messages", "MiB/s", "least", "most", "ratio");
    for (const series& rung : measured.all()) {
      if (rung.transport == transport) print_rung(measured, rung);
    }
  }
}

void write_json(const figures& measured, int runs, const std::string& path) {
  nlohmann::json rows = nlohmann::json::array();
  for (const series& rung : measured.all()) {
    for (const std::size_t bytes : sizes_of(rung)) {
      const auto [floor_trip, floor_one_way] = measured.floor_of(rung, bytes);
      nlohmann::json row{{"transport", rung.transport},
                         {"rung", rung.name},
                         {"of", rung.unit},
                         {"bytes", bytes},
                         {"floor", rung.role == role::floor}};
      if (const spread trip = rung.round_trip(bytes); !trip.empty()) {
        row["round_trip_ns"] = {{"median", trip.median * 1e9}, {"min", trip.least * 1e9}, {"max", trip.most * 1e9}};
        if (!floor_trip.empty()) row["round_trip_ratio"] = trip.median / floor_trip.median;
      }
      if (const spread way = rung.one_way(bytes); !way.empty()) {
        row["messages_per_second"] = {{"median", 1 / way.median}, {"min", 1 / way.most}, {"max", 1 / way.least}};
        row["mib_per_second"] = mib_per_second(bytes, way);
        if (!floor_one_way.empty()) row["bandwidth_ratio"] = floor_one_way.median / way.median;
      }
      rows.push_back(std::move(row));
    }
  }
  bench::write_json(path, nlohmann::json{{"benchmark", "ladder"}, {"runs", runs}, {"rungs", std::move(rows)}});
}

void write_plot(const figures& measured, const std::string& path) {
  plot::page page("The cost ladder: floors, active messages and mobile objects");
  for (const std::string& transport : measured.transports()) {
    plot::chart latency{.title = transport + ": round trip", .x_label = "message size", .y_unit = "s"};
    plot::chart bandwidth{.title = transport + ": bandwidth", .x_label = "message size", .y_unit = "B/s"};
    std::size_t floors = 0;
    for (const series& rung : measured.all()) {
      if (rung.transport != transport || rung.unit != "round trip") continue;
      const bool is_floor = rung.role == role::floor;
      const std::size_t colour = is_floor ? 7 * (floors++ % 2) : colour_of(rung.name);
      plot::line trips{.name = rung.name, .colour = colour, .dashed = is_floor};
      plot::line ways = trips;
      for (const auto& [bytes, seconds] : rung.round_trips) {
        const spread values = spread_of(seconds);
        trips.points.push_back({static_cast<double>(bytes), values.median, values.least, values.most});
      }
      for (const auto& [bytes, seconds] : rung.one_ways) {
        const spread values = spread_of(seconds);
        const double size = static_cast<double>(bytes);
        ways.points.push_back({size, size / values.median, size / values.most, size / values.least});
      }
      latency.lines.push_back(std::move(trips));
      bandwidth.lines.push_back(std::move(ways));
    }
    page.add_row({std::move(latency), std::move(bandwidth)});
  }
  bench::write_file(path, page.svg());
}

}  // namespace ladder
