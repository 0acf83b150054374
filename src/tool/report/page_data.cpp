// SPDX-License-Identifier: Apache-2.0
// Cells, spans and lists of a report's page.
#include "tool/report/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "tool/report/base64.hpp"
#include "tool/report/page_numbers.hpp"
#include "tool/report/page_phases.hpp"
#include "tool/report/segments.hpp"

namespace nacre::tool {
namespace {

constexpr std::size_t bins_max = 2048;
constexpr std::size_t bins_min = 200;
constexpr std::uint32_t handlers_told_apart = 254;  // the busiest: a cell has one byte for a handler

/// Codes of spans. The codes of handlers follow, the busiest handler first.
enum span_code : std::uint32_t { idle_span, runtime_span, main_span, first_handler_span };

/// The activities of a row during one bin of time. `handler` is the one that ran longest, if it had at least half.
struct cell {
  double work = 0, runtime = 0, idle = 0;
  std::uint32_t handler = 0;
  double votes = 0;
  void vote(std::uint32_t candidate, double ns) {
    if (candidate == handler) {
      votes += ns;
    } else if (ns > votes) {
      handler = candidate;
      votes = ns - votes;
    } else {
      votes -= ns;
    }
  }
};

class page_builder {
 public:
  page_builder(const trace::trace_log& log, const survey& sums, const page_bounds& bounds)
      : log_(log), sums_(sums), bounds_(bounds) {
    choose_tracks();
    tracks_a_row_ = std::max<std::size_t>(share(shown_.size(), bounds.rows), 1);
    rows_ = share(shown_.size(), tracks_a_row_);
    bins_ = std::clamp(bounds.cells / std::max<std::size_t>(rows_, 1), bins_min, bins_max);
    bin_ns_ = std::max(1.0, static_cast<double>(log.end_ns()) / static_cast<double>(bins_));
    rank_handlers();
  }

  nlohmann::ordered_json build() {
    nlohmann::ordered_json page = heading();
    page["handlers"] = handlers();
    page["rows"] = rows();
    page["bins"] = {{"count", bins_}, {"cells", base64(cells())}};
    page["spans"] = spans();
    page["phases"] = page_phases(log_, sums_, tracks_with_spans(), bounds_.phase_spans);
    page["migrations"] = passages(sums_.migrations);
    page["steals"] = passages(sums_.steals);
    page["traced"] = passages(sums_.traced);
    page["messages"] = matrix();
    return page;
  }

 private:
  static std::size_t share(std::size_t all, std::size_t places) {
    return (all + places - 1) / std::max<std::size_t>(places, 1);
  }

  /// Leaves out mains and poll loops that have done next to nothing. A migration, steal or message that begins or ends
  /// at such a track is shown at its neighbour.
  void choose_tracks() {
    const std::int64_t least = log_.end_ns() / 1000;
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) {
      const track_sums& track_sums = sums_.tracks[index];
      const bool worker = log_.tracks()[index].kind == trace::track::role::worker;
      if (worker || track_sums.main + track_sums.runtime + track_sums.work > least) shown_.push_back(index);
      place_of_track_.push_back(shown_.empty() ? 0 : shown_.size() - 1);
    }
  }
  [[nodiscard]] std::int64_t row_of(std::size_t track) const {
    return static_cast<std::int64_t>(place_of_track_[track] / tracks_a_row_);
  }

  void rank_handlers() {
    by_time_.resize(sums_.handlers.size());
    std::iota(by_time_.begin(), by_time_.end(), 0u);
    std::erase_if(by_time_, [this](std::uint32_t id) { return sums_.handlers[id].runs == 0; });
    std::stable_sort(by_time_.begin(), by_time_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(sums_.handlers[a].of_runtime, -sums_.handlers[a].ns) <
             std::pair(sums_.handlers[b].of_runtime, -sums_.handlers[b].ns);
    });
    place_.assign(sums_.handlers.size(), 0);
    for (std::uint32_t index = 0; index < by_time_.size(); ++index) place_[by_time_[index]] = index;
  }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t handler) const {
    return handler < place_.size() ? place_[handler] : 0;
  }

  nlohmann::ordered_json heading() const {
    return {{"program", log_.job().program},   {"transport", log_.job().transport},
            {"balancer", log_.job().balancer}, {"simulated", log_.job().simulated},
            {"ranks", log_.job().ranks},       {"end_ns", log_.end_ns()},
            {"notes", log_.notes()},           {"created", sums_.created},
            {"departures", sums_.departures},  {"waves", sums_.waves}};
  }

  nlohmann::ordered_json handlers() const {
    auto all = nlohmann::ordered_json::array();
    for (const std::uint32_t id : by_time_) {
      const handler_sums& one = sums_.handlers[id];
      all.push_back({log_.job().handlers[id], one.runs, one.ns, one.longest, one.of_runtime});
    }
    return all;
  }

  nlohmann::ordered_json rows() const {
    auto all = nlohmann::ordered_json::array();
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t first = row * tracks_a_row_;
      const std::size_t end = std::min(first + tracks_a_row_, shown_.size());
      track_sums sum;
      for (std::size_t index = first; index < end; ++index) {
        const track_sums& one = sums_.tracks[shown_[index]];
        sum.work += one.work, sum.main += one.main, sum.runtime += one.runtime, sum.idle += one.idle;
        sum.handlers += one.handlers, sum.steals += one.steals;
      }
      const trace::track& source = log_.tracks()[shown_[first]];
      const trace::track& target = log_.tracks()[shown_[end - 1]];
      all.push_back({source.rank, source.thread, static_cast<int>(source.kind), target.rank, end - first, sum.work,
                     sum.main, sum.runtime, sum.idle, sum.handlers, sum.steals});
    }
    return all;
  }

  void fill(std::vector<cell>& row, const segment& one) {
    if (one.kind == doing::nothing || one.end_ns <= 0) return;
    const double begin = static_cast<double>(std::max<std::int64_t>(one.begin_ns, 0));
    const auto end = static_cast<double>(one.end_ns);
    for (auto bin = static_cast<std::size_t>(begin / bin_ns_); bin < bins_; ++bin) {
      const double source = std::max(begin, static_cast<double>(bin) * bin_ns_);
      const double ns = std::min(end, static_cast<double>(bin + 1) * bin_ns_) - source;
      if (ns <= 0) break;
      cell& in = row[bin];
      if (one.kind == doing::idle) {
        in.idle += ns;
      } else if (one.kind == doing::runtime) {
        in.runtime += ns;
      } else {
        in.work += ns;
        in.vote(one.kind == doing::main ? handlers_told_apart + 1
                                        : std::min(place_of(one.handler) + 1, handlers_told_apart),
                ns);
      }
    }
  }

  /// Four bytes for each cell: work, runtime and idle time as 255ths of the bin, then the handler, from 1; 255: main.
  std::string cells() {
    std::string out;
    std::vector<cell> row(bins_);
    const auto part = [&](double ns) {
      const double whole = bin_ns_ * static_cast<double>(tracks_a_row_);
      return static_cast<char>(static_cast<unsigned char>(std::clamp(std::lround(255 * ns / whole), 0L, 255L)));
    };
    for (std::size_t index = 0; index < shown_.size(); ++index) {
      walk(
          log_, shown_[index],
          [&](const segment& one) {
            fill(row, one);
            if (one.kind != doing::nothing) lengths_.add(one.length());
          },
          [](const trace::event&) {});
      if ((index + 1) % tracks_a_row_ != 0 && index + 1 != shown_.size()) continue;
      for (cell& each : row) {
        out += {part(each.work), part(each.runtime), part(each.idle), static_cast<char>(each.handler)};
        each = {};
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<std::size_t> tracks_with_spans() const {
    return tracks_a_row_ == 1 ? shown_ : std::vector<std::size_t>{};
  }

  /// The spans row by row. A span is its gap, length and code, each as a number of 7 bits a byte. Rows of several
  /// tracks have no spans.
  nlohmann::ordered_json spans() {
    const std::size_t least = lengths_.least_class(bounds_.spans);
    std::string out;
    std::vector<std::size_t> ends;
    for (const std::size_t index : tracks_with_spans()) {
      std::int64_t last = 0;
      const auto put = [&](const segment& one) {
        if (one.kind == doing::nothing || length_counts::class_of(one.length()) < least || one.begin_ns < last) return;
        std::uint32_t code = first_handler_span + place_of(one.handler);
        if (one.handler == 0) {
          code = one.kind == doing::idle ? idle_span : one.kind == doing::main ? main_span : runtime_span;
        }
        put_number(out, static_cast<std::uint64_t>(one.begin_ns - last));
        put_number(out, static_cast<std::uint64_t>(one.length()));
        put_number(out, code);
        last = one.end_ns;
      };
      walk(log_, index, put, [](const trace::event&) {});
      ends.push_back(out.size());
    }
    return {{"least_ns", length_counts::least_ns(least)}, {"ends", ends}, {"bytes", base64(out)}};
  }

  nlohmann::ordered_json passages(const passage_list& all) const {
    const std::size_t step = std::max<std::size_t>(share(all.kept.size(), bounds_.passages), 1);
    auto list = nlohmann::ordered_json::array();
    for (std::size_t index = 0; index < all.kept.size(); index += step) {
      const passage& one = all.kept[index];
      for (const std::int64_t number :
           {one.begin_ns, one.end_ns - one.begin_ns, row_of(one.source), row_of(one.target)}) {
        list.push_back(number);
      }
    }
    return {{"count", all.count}, {"list", std::move(list)}};
  }

  nlohmann::ordered_json matrix() const {
    const std::size_t group = std::max<std::size_t>(share(log_.job().ranks, bounds_.matrix_sides), 1);
    const std::size_t sides = share(log_.job().ranks, group);
    std::vector<std::uint64_t> count(sides * sides), bytes(sides * sides);
    for (const auto& [pair, sum] : sums_.messages) {
      const std::size_t index = pair.first / group * sides + pair.second / group;
      count[index] += sum.count;
      bytes[index] += sum.bytes;
    }
    return {{"sides", sides}, {"group", group}, {"count", count}, {"bytes", bytes}};
  }

  const trace::trace_log& log_;
  const survey& sums_;
  const page_bounds& bounds_;
  std::vector<std::size_t> shown_;           // tracks
  std::vector<std::size_t> place_of_track_;  // in shown_
  std::size_t tracks_a_row_ = 1;
  std::size_t rows_ = 0;
  std::size_t bins_ = 0;
  double bin_ns_ = 1;
  std::vector<std::uint32_t>
      by_time_;                       // handlers that have run: of the program, then of the runtime; the busiest first
  std::vector<std::uint32_t> place_;  // in by_time_, by number
  length_counts lengths_;             // of segments
};

}  // namespace

std::string page_data(const trace::trace_log& log, const survey& sums, const page_bounds& bounds) {
  return page_builder(log, sums, bounds).build().dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace nacre::tool
