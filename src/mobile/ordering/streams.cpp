// SPDX-License-Identifier: Apache-2.0
// Putting messages back into sequence.
#include "mobile/ordering/streams.hpp"

#include <algorithm>
#include <utility>

namespace nacre {

streams::stream& streams::of(std::uint32_t source) {
  if (recent_ < streams_.size() && streams_[recent_].source == source) return streams_[recent_];
  auto place = std::lower_bound(streams_.begin(), streams_.end(), source,
                                [](const stream& s, std::uint32_t rank) { return s.source < rank; });
  if (place == streams_.end() || place->source != source) place = streams_.insert(place, stream{source, 0, 0});
  recent_ = static_cast<std::size_t>(place - streams_.begin());
  return *place;
}

streams::verdict streams::admit(message_ptr& m, message_list& ready) {
  stream& from = of(m->header.source);
  const auto ahead = static_cast<std::int32_t>(m->header.sequence - from.next);
  if (ahead > 0) {
    early_.push_back(std::move(m));
    return verdict::early;
  }
  if (ahead < 0) return verdict::repeated;
  ++from.next;
  ready.push_back(std::move(m));
  if (!early_.empty()) release_early(from, ready);
  return verdict::admitted;
}

void streams::release_early(stream& of, message_list& ready) {
  for (bool found = true; found;) {
    found = false;
    for (message_ptr& each : early_) {
      if (each->header.source != of.source || each->header.sequence != of.next) continue;
      ++of.next;
      ready.push_back(std::move(each));
      std::swap(each, early_.back());
      early_.pop_back();
      found = true;
      break;
    }
  }
}

std::uint32_t streams::told_epoch(rank_id source) const noexcept {
  for (const stream& each : streams_) {
    if (each.source == source.value()) return each.told_epoch;
  }
  return 0;
}

bool streams::sound(std::uint32_t ranks) const noexcept {
  std::uint64_t least = 0;  // each source once, in order
  for (const stream& each : streams_) {
    if (each.source < least || each.source >= ranks) return false;
    least = std::uint64_t{each.source} + 1;
  }
  return true;
}

void streams::note_told(rank_id source, std::uint32_t epoch) { of(source.value()).told_epoch = epoch; }

void streams::take_early(message_list& taken) {
  for (message_ptr& each : early_) taken.push_back(std::move(each));
  early_.clear();
}

}  // namespace nacre
