// SPDX-License-Identifier: Apache-2.0
// A load trace: a file of the work that the objects of a run did over time, to try balancers without the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre::balance {

/// The work of one object on one rank within one interval of time.
struct load_row {
  std::uint32_t interval = 0;  ///< number, from the start of the run
  std::uint32_t rank = 0;
  std::uint64_t object = 0;    ///< its id
  double seconds = 0;          ///< that workers ran its handlers
  std::uint32_t messages = 0;  ///< that were run
  std::uint64_t bytes = 0;     ///< size of a migration of the object at the end of the interval

  bool operator==(const load_row&) const = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(interval, rank, object, seconds, messages, bytes);
  }
};

struct load_trace {
  std::uint32_t ranks = 1;
  std::uint32_t workers = 1;  ///< of each rank
  double interval = 0;        ///< seconds
  std::vector<load_row> rows{};

  bool operator==(const load_trace&) const = default;
};

/// The text of a trace: a head line, a line for each row, and a last line with the number of rows. Rows are sorted by
/// interval, rank and object.
[[nodiscard]] std::string as_text(load_trace trace);

/// The parts of that text, for a trace that is written in pieces, each sorted likewise. The rows of the head do not
/// count.
[[nodiscard]] std::string head_of(const load_trace& trace);
[[nodiscard]] std::string text_of(std::vector<load_row> rows);
[[nodiscard]] std::string end_of(std::size_t rows);

/// Reads such a text. Throws setup_error, which names the line, if it is not a complete trace. `name`: of the file.
[[nodiscard]] load_trace parse_load_trace(std::string_view text, std::string_view name);

/// Collects the rows of one rank. Any thread.
///
/// When it holds `rows_max` of them, or four for each object where that is more, it doubles its interval until a
/// quarter is free again.
class load_recorder {
 public:
  /// By interval and mixed name of the object; rows are taken in this order.
  using row_key = std::pair<std::uint32_t, std::uint64_t>;
  /// Behind all rows.
  static constexpr row_key last_key{~std::uint32_t{0}, ~std::uint64_t{0}};

  load_recorder(double interval, std::size_t rows_max) : interval_(interval), rows_max_(rows_max), limit_(rows_max) {}
  /// Notes an activation step of an object that ended at `now`, in seconds from the start of the run.
  void note(double now, object_id object, double seconds, std::uint32_t messages, std::uint64_t bytes);
  [[nodiscard]] double interval() const;
  /// Doubles the interval until it is at least so long.
  void widen_to(double interval);
  /// Behind the first `count` rows, or at an earlier begin of an interval, but behind one row at least; last_key where
  /// there are no more rows. `count` is at least 1.
  [[nodiscard]] row_key end_of_first(std::size_t count) const;
  /// Returns and forgets the rows before `end`.
  [[nodiscard]] std::vector<load_row> take(row_key end, rank_id rank);

 private:
  struct done {
    double seconds = 0;
    std::uint32_t messages = 0;
    std::uint64_t bytes = 0;

    void add(const done& later);
  };
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t object) noexcept;
  void shrink();
  void double_interval();

  mutable std::mutex guard_;
  double interval_;  // this and the next under the guard
  std::map<row_key, done> done_;
  const std::size_t rows_max_;
  std::size_t limit_;  // number of rows at which the interval doubles; under the guard
};

}  // namespace nacre::balance
