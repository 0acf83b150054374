// SPDX-License-Identifier: Apache-2.0
// The handlers that a block has run, recorded so that the critical path can be followed back from the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/event.hpp"

namespace nacre::emulator {

/// A handler that has run. `source` and `number` are those of its event, so the sender's record is found by them: the
/// events that a handler has sent have the numbers from its own first_sent up to that of its node's next record.
struct path_record {
  virtual_time arrival = 0, start = 0, end = 0;
  std::uint32_t node = 0;    ///< within the block
  std::uint32_t source = 0;  ///< below first_source: the start function
  std::uint32_t number = 0;
  std::uint32_t first_sent = 0;
  std::uint16_t thread = 0;
  std::uint16_t handler = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(arrival, start, end, node, source, number, first_sent, thread, handler);
  }
};

/// The records of a block in the order in which its handlers ran; for each node that is the order of their starts. 48
/// bytes a handler. A log that would be larger than `records_max` forgets everything, and says that it overflowed.
class path_log {
 public:
  static constexpr std::size_t records_max = std::size_t{1} << 25;

  explicit path_log(std::uint32_t nodes) : nodes_(nodes) {}

  void add(const path_record& one) {
    if (overflowed_) return;
    if (records_.size() == records_max) return forget();
    records_.push_back(one);
  }
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  [[nodiscard]] const path_record& at(std::size_t place) const noexcept { return records_[order_[place]]; }

  // The following need `sort` first, after the last add. A place is a position in the sorted order.
  void sort();
  /// The record that ends last in the block, of these that of the first node in `rank_of`, which orders nodes.
  template <class Rank>
  [[nodiscard]] std::optional<std::size_t> last(const Rank& rank_of) const {
    std::optional<std::size_t> latest;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      if (!latest || ends_later(at(place), at(*latest), rank_of)) latest = place;
    }
    return latest;
  }
  /// The record of the handler of `node` that sent the event of this number.
  [[nodiscard]] std::optional<std::size_t> sender(std::uint32_t node, std::uint32_t number) const;
  /// The record that ran before this one on its thread.
  [[nodiscard]] std::optional<std::size_t> before_on_thread(std::size_t place) const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(nodes_, overflowed_, records_);
  }

 private:
  template <class Rank>
  [[nodiscard]] static bool ends_later(const path_record& a, const path_record& b, const Rank& rank_of) {
    if (a.end != b.end) return a.end > b.end;
    return a.node == b.node || rank_of(a.node) < rank_of(b.node);  // of one node the later one in its order
  }
  void forget();

  std::uint32_t nodes_ = 0;
  bool overflowed_ = false;
  std::vector<path_record> records_;
  std::vector<std::uint32_t> order_;   ///< positions of records, node by node
  std::vector<std::uint32_t> begins_;  ///< of each node in order_
};

}  // namespace nacre::emulator
