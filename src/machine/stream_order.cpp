// SPDX-License-Identifier: Apache-2.0
// The table of streams that have messages in flight.
#include "machine/stream_order.hpp"

#include <algorithm>
#include <utility>

#include <nacre/ids.hpp>

namespace nacre::machine {

namespace {

constexpr std::size_t capacity_min = 64;

}  // namespace

stream_order::stream_order() : entries_(capacity_min) {}

std::int64_t stream_order::next(std::uint64_t stream, std::int64_t wanted, std::int64_t present) {
  if ((used_ + 1) * 2 > entries_.size()) make_room(present);
  entry& mine = find(stream);
  if (mine.last < 0) {
    mine.stream = stream;
    ++used_;
  }
  mine.last = std::max(wanted, mine.last + 1);
  return mine.last;
}

stream_order::entry& stream_order::find(std::uint64_t stream) noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t index = detail::mix_bits(stream) & mask;
  while (entries_[index].last >= 0 && entries_[index].stream != stream) index = (index + 1) & mask;
  return entries_[index];
}

/// Keeps the entries that are not in the past, in a table that they fill to a quarter at most. So the cost is spread
/// over at least as many calls as it keeps entries.
void stream_order::make_room(std::int64_t present) {
  const std::vector<entry> old = std::move(entries_);
  const auto ahead = [present](const entry& e) { return e.last >= present; };
  const auto kept = static_cast<std::size_t>(std::count_if(old.begin(), old.end(), ahead));
  std::size_t capacity = capacity_min;
  while (capacity < kept * 4) capacity *= 2;
  entries_.assign(capacity, entry{});
  used_ = kept;
  for (const entry& e : old) {
    if (ahead(e)) find(e.stream) = e;
  }
}

}  // namespace nacre::machine
