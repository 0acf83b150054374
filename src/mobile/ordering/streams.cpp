// SPDX-License-Identifier: Apache-2.0
// Putting messages back into sequence.
#include "mobile/ordering/streams.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {

streams::stream& streams::of(std::uint32_t source) {
  if (first_.source == lone_stream::nobody) first_.source = source;
  if (first_.source == source) return first_;
  if (recent_ < more_.size() && more_[recent_].source == source) return more_[recent_];
  auto place = std::lower_bound(more_.begin(), more_.end(), source,
                                [](const stream& s, std::uint32_t rank) { return s.source < rank; });
  if (place == more_.end() || place->source != source) place = more_.insert(place, stream{source, 0, 0});
  recent_ = static_cast<std::uint32_t>(place - more_.begin());
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
  if (first_.source == source.value()) return first_.told_epoch;
  for (const stream& each : more_) {
    if (each.source == source.value()) return each.told_epoch;
  }
  return 0;
}

bool streams::sound(std::uint32_t ranks) const noexcept {
  if (first_.source == lone_stream::nobody) return more_.empty() && first_.next == 0 && first_.told_epoch == 0;
  if (first_.source >= ranks) return false;
  std::uint64_t least = 0;  // each source once, in order
  for (const stream& each : more_) {
    if (each.source < least || each.source >= ranks || each.source == first_.source) return false;
    least = std::uint64_t{each.source} + 1;
  }
  return true;
}

void streams::absorb(lone_stream& from) {
  NACRE_ASSERT(first_.source == lone_stream::nobody, "streams take over the first of them");
  first_.source = from.source_;
  first_.next = from.next_;
  from = {};
}

bool streams::reduce_to(lone_stream& to) noexcept {
  if (!more_.empty() || !early_.empty() || first_.told_epoch != 0) return false;
  to.source_ = first_.source;
  to.next_ = first_.next;
  first_ = {};
  return true;
}

void streams::note_told(rank_id source, std::uint32_t epoch) { of(source.value()).told_epoch = epoch; }

std::vector<rank_id> streams::sources() const {
  std::vector<rank_id> all;
  if (empty()) return all;
  all.reserve(1 + more_.size());
  all.emplace_back(first_.source);
  for (const stream& each : more_) all.emplace_back(each.source);
  return all;
}

void streams::take_early(message_list& taken) {
  for (message_ptr& each : early_) taken.push_back(std::move(each));
  early_.clear();
}

}  // namespace nacre
