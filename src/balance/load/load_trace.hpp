// SPDX-License-Identifier: Apache-2.0
// A load trace: a file of the work that the objects of a run did over time, to try balancers without the program.
#pragma once

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

/// Reads such a text. Throws setup_error, which names the line, if it is not a complete trace. `name`: of the file.
[[nodiscard]] load_trace parse_load_trace(std::string_view text, std::string_view name);

/// Collects the rows of one rank. Any thread.
class load_recorder {
 public:
  explicit load_recorder(double interval) : interval_(interval) {}
  /// Notes an activation step of an object that ended at `now`, in seconds from the start of the run.
  void note(double now, object_id object, double seconds, std::uint32_t messages, std::uint64_t bytes);
  [[nodiscard]] std::vector<load_row> rows(rank_id rank) const;

 private:
  struct done {
    double seconds = 0;
    std::uint32_t messages = 0;
    std::uint64_t bytes = 0;
  };
  double interval_;
  mutable std::mutex guard_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, done> done_;  // by interval and object; under the guard
};

}  // namespace nacre::balance
