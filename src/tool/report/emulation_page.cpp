// SPDX-License-Identifier: Apache-2.0
// Utilisation as cells of one plane and as histograms over all nodes; packets by hops; the critical path.
#include "tool/report/emulation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <nacre/error.hpp>
#include "tool/report/base64.hpp"

namespace nacre::tool {
namespace {

constexpr std::size_t bands = 20;  // of utilisation in a histogram, beside "not at all"

using cells = std::span<const std::uint64_t>;

/// The time for which the threads of a node could have worked.
class capacity {
 public:
  explicit capacity(const emulator::profile_head& head)
      : head_(head), end_(static_cast<std::uint64_t>(head.counts.end.count())) {}
  [[nodiscard]] double of_bin(std::size_t bin) const {
    const std::uint64_t begin = bin * head_.bin_ns;
    return static_cast<double>(std::min(head_.bin_ns, end_ - std::min(begin, end_))) * head_.machine.threads;
  }
  [[nodiscard]] double of_all() const { return static_cast<double>(end_) * head_.machine.threads; }

 private:
  const emulator::profile_head& head_;
  std::uint64_t end_;
};

double part(double value, double whole) { return whole > 0 ? value / whole : 0; }

double sum_of(cells row) { return static_cast<double>(std::accumulate(row.begin(), row.end(), std::uint64_t{0})); }

/// The band of a part of `most`; 0 for nothing at all.
std::size_t band_of(double value, double most) {
  if (value <= 0 || most <= 0) return 0;
  return std::min(bands, static_cast<std::size_t>(std::floor(value / most * bands)) + 1);
}

/// Sums of the cells of squares of neighbours in one plane.
class plane_cells {
 public:
  plane_cells(const emulator::profile_head& head, const grid_slice& plane, std::size_t cells_max)
      : head_(head), plane_(plane) {
    const coordinates& grid = head.machine.grid;
    width_ = static_cast<std::size_t>(plane.axis == 'x' ? grid.y : grid.x);
    height_ = static_cast<std::size_t>(plane.axis == 'z' ? grid.y : grid.z);
    const auto shared = [&](std::size_t extent) { return (extent + group_ - 1) / group_; };
    while (group_ < std::max(width_, height_) && shared(width_) * shared(height_) * head.bins > cells_max) ++group_;
    columns_ = shared(width_);
    sums_.resize(columns_ * shared(height_) * head.bins);
  }
  void add(std::uint64_t node, cells row) {
    const coordinates& grid = head_.machine.grid;
    const auto gx = static_cast<std::uint64_t>(grid.x), gy = static_cast<std::uint64_t>(grid.y);
    const std::uint64_t x = node % gx, y = node / gx % gy, z = node / gx / gy;
    const std::uint64_t fixed = plane_.axis == 'x' ? x : plane_.axis == 'y' ? y : z;
    if (fixed != static_cast<std::uint64_t>(plane_.coordinate)) return;
    const std::uint64_t u = plane_.axis == 'x' ? y : x, v = plane_.axis == 'z' ? y : z;
    const std::size_t index = (v / group_ * columns_ + u / group_) * head_.bins;
    for (std::size_t bin = 0; bin < row.size(); ++bin) sums_[index + bin] += row[bin];
  }
  /// One byte for each square and bin: its utilisation in 255ths of `most`, rounded up.
  [[nodiscard]] nlohmann::ordered_json json(double most) const {
    const capacity room(head_);
    std::string bytes;
    for (std::size_t index = 0; index < sums_.size(); ++index) {
      const std::size_t square = index / head_.bins, u = square % columns_ * group_, v = square / columns_ * group_;
      const std::size_t nodes = std::min(group_, width_ - u) * std::min(group_, height_ - v);
      const double whole = room.of_bin(index % head_.bins) * static_cast<double>(nodes) * most;
      const double value = std::ceil(255 * part(static_cast<double>(sums_[index]), whole));
      bytes += static_cast<char>(static_cast<unsigned char>(std::clamp(value, 0.0, 255.0)));
    }
    return {{"axis", std::string(1, plane_.axis)},
            {"at", plane_.coordinate},
            {"width", width_},
            {"height", height_},
            {"group", group_},
            {"cells", base64(bytes)}};
  }

 private:
  const emulator::profile_head& head_;
  grid_slice plane_;
  std::size_t width_ = 1, height_ = 1, columns_ = 1, group_ = 1;
  std::vector<std::uint64_t> sums_;
};

/// Nodes by utilisation, in each bin and over all time. Nodes that run no handler are not told of: `json` adds them.
class histograms {
 public:
  histograms(const emulator::profile_head& head, const emulation_sums& sums)
      : head_(head), room_(head), sums_(sums), by_time_((bands + 1) * head.bins), overall_(bands + 1) {}
  void add(cells row) {
    for (std::size_t bin = 0; bin < row.size(); ++bin) {
      const double value = part(static_cast<double>(row[bin]), room_.of_bin(bin));
      ++by_time_[band_of(value, sums_.most_cell) * head_.bins + bin];
    }
    ++overall_[band_of(part(sum_of(row), room_.of_all()), sums_.most_node)];
  }
  [[nodiscard]] nlohmann::ordered_json json() const {
    const std::uint64_t idle = head_.machine.nodes() - sums_.nodes_that_work;
    auto by_time = by_time_;
    auto overall = overall_;
    for (std::size_t bin = 0; bin < head_.bins; ++bin) by_time[bin] += idle;
    overall[0] += idle;
    return {{"bands", bands},
            {"most_cell", sums_.most_cell},
            {"most_node", sums_.most_node},
            {"by_time", std::move(by_time)},
            {"overall", std::move(overall)}};
  }

 private:
  const emulator::profile_head& head_;
  capacity room_;
  emulation_sums sums_;
  std::vector<std::uint64_t> by_time_, overall_;  // bands, and within each the bins
};

nlohmann::ordered_json hops_of(const std::vector<std::uint64_t>& by_hops, std::size_t bars) {
  const std::size_t group = std::max<std::size_t>((by_hops.size() + bars - 1) / bars, 1);
  std::vector<std::uint64_t> sums((by_hops.size() + group - 1) / group);
  for (std::size_t hops = 0; hops < by_hops.size(); ++hops) sums[hops / group] += by_hops[hops];
  return {{"group", group}, {"packets", std::move(sums)}};
}

nlohmann::ordered_json path_of(const critical_path& path) {
  auto longest = nlohmann::ordered_json::array();
  for (const critical_step& each : path.longest) {
    longest.push_back({each.start.count(), each.cost.count(), each.before.count(), each.waited,
                       fmt::format("({}, {}, {})", each.at.x, each.at.y, each.at.z), each.thread, each.handler});
  }
  return {{"known", path.known},
          {"handlers", path.handlers},
          {"waits", path.waits},
          {"running_ns", path.running.count()},
          {"under_way_ns", path.under_way.count()},
          {"longest", std::move(longest)}};
}

nlohmann::ordered_json heading(const emulator::profile_head& head, const emulation_sums& sums) {
  const emulated_machine& m = head.machine;
  const emulation_counts& c = head.counts;
  return {{"title", head.title},
          {"grid", {m.grid.x, m.grid.y, m.grid.z}},
          {"threads", m.threads},
          {"end_ns", c.end.count()},
          {"bin_ns", head.bin_ns},
          {"bins", head.bins},
          {"busy_ns", sums.busy_ns},
          {"nodes_that_work", sums.nodes_that_work},
          {"most_handlers", sums.most_handlers},
          {"handlers", c.events},
          {"messages", c.messages},
          {"all_hops", c.hops},
          {"delayed", c.delayed},
          {"held_back", c.held_back},
          {"stalled", c.stalled},
          {"stall_ns", c.stall.count()},
          {"late", c.late},
          {"contention", m.contention},
          {"link_waits", c.link_waits},
          {"link_wait_ns", c.link_wait.count()}};
}

}  // namespace

grid_slice slice_of(const std::string& text, const coordinates& grid) {
  if (text.empty()) return {'z', grid.z / 2};
  grid_slice plane;
  const char* const last = text.data() + text.size();
  const bool named =
      text.size() > 2 && text[1] == '=' && std::string_view("xyz").find(text[0]) != std::string_view::npos;
  const auto [end, error] = std::from_chars(text.data() + (named ? 2 : 0), last, plane.coordinate);
  if (!named || error != std::errc() || end != last) {
    throw setup_error({"'" + text + "' names no plane of the grid", "--slice says which nodes the heat map shows",
                       "write an axis and a number, such as z=18"});
  }
  plane.axis = text[0];
  const std::int32_t extent = plane.axis == 'x' ? grid.x : plane.axis == 'y' ? grid.y : grid.z;
  if (plane.coordinate >= 0 && plane.coordinate < extent) return plane;
  throw setup_error({"the grid has no plane " + text, "--slice says which nodes the heat map shows",
                     fmt::format("{} is 0 to {}", plane.axis, extent - 1)});
}

emulation_sums sums_of(const emulator::profile_input& profile) {
  const capacity room(profile.head());
  emulation_sums sums;
  profile.for_each([&](const emulator::profile_row& profile_row) {
    const cells row = profile_row.cells;
    ++sums.nodes_that_work;
    sums.most_handlers = std::max(sums.most_handlers, profile_row.handlers);
    for (std::size_t bin = 0; bin < row.size(); ++bin) {
      sums.busy_ns += row[bin];
      sums.most_cell = std::max(sums.most_cell, part(static_cast<double>(row[bin]), room.of_bin(bin)));
    }
    sums.most_node = std::max(sums.most_node, part(sum_of(row), room.of_all()));
  });
  return sums;
}

std::string emulation_page_data(const emulator::profile_input& profile, const grid_slice& plane,
                                const emulation_page_bounds& bounds) {
  const emulator::profile_head& head = profile.head();
  const emulation_sums sums = sums_of(profile);
  plane_cells of_plane(head, plane, bounds.cells);
  histograms nodes(head, sums);
  profile.for_each([&](const emulator::profile_row& row) {
    of_plane.add(row.node, row.cells);
    nodes.add(row.cells);
  });
  nlohmann::ordered_json page = heading(head, sums);
  page["plane"] = of_plane.json(sums.most_cell);
  page["nodes"] = nodes.json();
  page["hops"] = hops_of(head.counts.by_hops, bounds.hop_bars);
  page["path"] = path_of(head.path);
  return page.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace nacre::tool
