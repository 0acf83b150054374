// SPDX-License-Identifier: Apache-2.0
// What the objects of a run have done over time, as a file: to try balancers on it without the program.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre::balance {

/// What one object has done on one rank within one interval of time.
struct load_row {
  std::uint32_t interval = 0;  ///< number, from the start of the run
  std::uint32_t rank = 0;
  std::uint64_t object = 0;    ///< its name
  double seconds = 0;          ///< of workers that ran its handlers
  std::uint32_t messages = 0;  ///< that were run
  std::uint64_t bytes = 0;     ///< that it would have taken to move it, at the end

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

/// A head, a line for each row, and a last line that tells how many there are; rows by interval, rank, object.
[[nodiscard]] std::string as_text(load_trace what);

/// The contrary. Throws setup_error, which names the line, when the text is not a complete trace. `name` is the file's.
[[nodiscard]] load_trace parse_load_trace(std::string_view text, std::string_view name);

/// Gathers the rows of one rank. Any thread.
class load_recorder {
 public:
  explicit load_recorder(double interval) : interval_(interval) {}
  /// A turn of an object has ended at `now`, in seconds from the start of the run.
  void note(double now, object_id object, double seconds, std::uint32_t messages, std::uint64_t bytes);
  [[nodiscard]] std::vector<load_row> rows(rank_id of) const;

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
