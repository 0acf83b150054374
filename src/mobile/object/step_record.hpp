// SPDX-License-Identifier: Apache-2.0
// Which objects of a rank have worked lately, and for how long: for balancers that go by what objects did.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <nacre/ids.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// The work of objects in a window of time. Nothing is noted until open() is called, so a rank whose balancer does not
/// ask pays one branch for a step that is measured.
///
/// Each thread context has a page of its own, with a lock that only the poll loop contends for. A page has a row for
/// each of its objects up to a bound; what further ones do is in the sums alone.
class step_record {
 public:
  static constexpr std::size_t rows_max = 4096, rows_of_thread_min = 256;
  struct row {
    object_id object;
    double seconds = 0;
    std::uint32_t steps = 0;
  };
  struct sums {
    double seconds = 0;       ///< of all objects
    std::size_t objects = 0;  ///< that have a row; an object that has run on two threads counts twice
    std::uint64_t steps = 0;  ///< of the objects that have a row
    std::uint64_t first = 0;  ///< instant at which the first step ended, in ticks of the worker pool
    std::uint64_t last = 0;   ///< instant at which the last step ended
  };

  explicit step_record(std::size_t thread_contexts)
      : rows_of_thread_(std::max(rows_max / thread_contexts, rows_of_thread_min)), pages_(thread_contexts) {}

  /// From now on steps are noted. Before anything runs.
  void open() noexcept { is_open_ = true; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  /// A step of an object has taken so many seconds, those that it stands for included, until `instant`. The thread
  /// context `thread`.
  void note(std::size_t thread, object_id object, double seconds, std::uint64_t instant);

  /// Begins a window: forgets everything. The poll loop, as are the others below.
  void clear();
  [[nodiscard]] sums so_far();
  /// The rows of about `most` objects, if there are as many.
  [[nodiscard]] std::vector<row> some(std::size_t most);
  /// A row for each object, in the order of ids.
  [[nodiscard]] std::vector<row> rows();

 private:
  struct alignas(cache_line_bytes) page {
    std::mutex guard;
    std::vector<row> slots;  // open addressing; a free slot has no valid object; its size is a power of two, or 0
    sums known;
  };
  [[nodiscard]] static row& slot_of(std::vector<row>& slots, object_id object) noexcept;
  static void grow(page& page);

  bool is_open_ = false;
  const std::size_t rows_of_thread_;
  std::vector<page> pages_;  // by thread context
};

}  // namespace nacre
