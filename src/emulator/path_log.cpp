// SPDX-License-Identifier: Apache-2.0
// Sorts the records of a block by their nodes, and finds the one before another.
#include "emulator/path_log.hpp"

#include <algorithm>
#include <numeric>

namespace nacre::emulator {

void path_log::forget() {
  overflowed_ = true;
  records_ = {};
}

void path_log::sort() {
  begins_.assign(nodes_ + 1, 0);
  for (const path_record& each : records_) ++begins_[each.node + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  order_.resize(records_.size());
  for (std::uint32_t position = 0; position < records_.size(); ++position) {
    order_[next[records_[position].node]++] = position;
  }
}

std::optional<std::size_t> path_log::sender(std::uint32_t node, std::uint32_t number) const {
  const auto begin = order_.begin() + begins_[node];
  const auto end = order_.begin() + begins_[node + 1];
  const auto next = std::upper_bound(begin, end, number, [&](std::uint32_t sent, std::uint32_t position) {
    return static_cast<std::int32_t>(sent - records_[position].first_sent) < 0;
  });
  // Handlers that send nothing have the first number of the next one: the last of these is the sender.
  if (next == begin) return std::nullopt;
  return static_cast<std::size_t>(next - order_.begin()) - 1;
}

std::optional<std::size_t> path_log::before_on_thread(std::size_t place) const {
  const path_record& record = at(place);
  for (std::size_t previous = place; previous > begins_[record.node];) {
    if (at(--previous).thread == record.thread) return previous;
  }
  return std::nullopt;
}

}  // namespace nacre::emulator
