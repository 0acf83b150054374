// SPDX-License-Identifier: Apache-2.0
// The numbers of the datagrams that have arrived: rejects replays, and says what to acknowledge.
#include "transport/udp/received_numbers.hpp"

#include <algorithm>

namespace nacre::transport::udp {

bool received_numbers::is_new(std::uint64_t number) const noexcept {
  if (number < floor_) return false;
  for (const number_range& each : ranges_.view()) {
    if (number >= each.end) return true;
    if (number >= each.begin) return false;
  }
  return true;
}

bool received_numbers::accept(std::uint64_t number) noexcept {
  if (!empty() && number == ranges_.each[0].end) {  // nearly always
    ++ranges_.each[0].end;
    return true;
  }
  if (!is_new(number)) return false;
  std::size_t place = 0;  // of the first range that lies below the number
  while (place < ranges_.count && ranges_.each[place].end > number) ++place;
  const bool joins_below = place < ranges_.count && ranges_.each[place].end == number;
  const bool joins_above = place > 0 && ranges_.each[place - 1].begin == number + 1;
  if (joins_below && joins_above) {
    ranges_.each[place - 1].begin = ranges_.each[place].begin;
    remove(place);
  } else if (joins_below) {
    ++ranges_.each[place].end;
  } else if (joins_above) {
    --ranges_.each[place - 1].begin;
  } else {
    insert(place, {.begin = number, .end = number + 1});
  }
  return true;
}

void received_numbers::insert(std::size_t place, number_range number_range) noexcept {
  if (ranges_.count == ack_ranges_max) {
    if (place == ack_ranges_max) {  // below all others, so it raises the floor instead of a place
      floor_ = number_range.end;
      return;
    }
    floor_ = ranges_.each[ack_ranges_max - 1].end;
    --ranges_.count;
  }
  const auto begin = ranges_.each.begin();
  std::copy_backward(begin + static_cast<std::ptrdiff_t>(place), begin + static_cast<std::ptrdiff_t>(ranges_.count),
                     begin + static_cast<std::ptrdiff_t>(ranges_.count + 1));
  ranges_.each[place] = number_range;
  ++ranges_.count;
}

void received_numbers::remove(std::size_t place) noexcept {
  const auto begin = ranges_.each.begin();
  std::copy(begin + static_cast<std::ptrdiff_t>(place + 1), begin + static_cast<std::ptrdiff_t>(ranges_.count),
            begin + static_cast<std::ptrdiff_t>(place));
  --ranges_.count;
}

}  // namespace nacre::transport::udp
