// SPDX-License-Identifier: Apache-2.0
// Finding the stream of a rank.
#include "mobile/ordering/stream_table.hpp"

#include <bit>

namespace nacre {

const stream* stream_table::find(std::uint32_t source) {
  const std::uint32_t position = position_of(source);
  return position != none ? &streams_[position] : nullptr;
}

stream& stream_table::of(std::uint32_t source) {
  if (recent_ < streams_.size() && streams_[recent_].source == source) return streams_[recent_];
  recent_ = position_of(source);
  if (recent_ != none) return streams_[recent_];
  recent_ = static_cast<std::uint32_t>(streams_.size());
  streams_.push_back({source, 0, 0});
  if (streams_.size() > searched_max) {
    if (2 * streams_.size() > index_.size()) {
      build_index();
    } else {
      slot_of(source) = recent_;
    }
  }
  return streams_.back();
}

bool stream_table::sound(std::uint32_t ranks, std::uint32_t other) {
  for (const stream& each : streams_) {
    if (each.source >= ranks || each.source == other) return false;
  }
  // Only the first stream of a source is found for it.
  for (std::uint32_t position = 0; position < streams_.size(); ++position) {
    if (position_of(streams_[position].source) != position) return false;
  }
  return true;
}

std::uint32_t stream_table::position_of(std::uint32_t source) {
  if (streams_.size() > searched_max) {
    if (index_.empty()) build_index();
    return slot_of(source);
  }
  for (std::uint32_t position = 0; position < streams_.size(); ++position) {
    ++steps_;
    if (streams_[position].source == source) return position;
  }
  return none;
}

/// The slot of the index for that rank's stream. The index is never full.
std::uint32_t& stream_table::slot_of(std::uint32_t source) noexcept {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = (source * std::uint64_t{0x9e3779b97f4a7c15U}) >> 32;
  for (;; ++slot) {
    ++steps_;
    std::uint32_t& found_count = index_[slot & mask];
    if (found_count == none || streams_[found_count].source == source) return found_count;
  }
}

void stream_table::build_index() {
  index_.assign(4 * std::bit_ceil(streams_.size()), none);
  for (std::uint32_t position = 0; position < streams_.size(); ++position) {
    std::uint32_t& slot = slot_of(streams_[position].source);
    if (slot == none) slot = position;
  }
}

}  // namespace nacre
