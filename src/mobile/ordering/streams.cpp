// SPDX-License-Identifier: Apache-2.0
// Putting messages back into sequence.
#include "mobile/ordering/streams.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {

stream& streams::of(std::uint32_t source) {
  if (first_.source == stream::nobody) first_.source = source;
  return first_.source == source ? first_ : more_.of(source);
}

streams::verdict streams::admit(message_ptr& m, message_list& ready) {
  stream& stream = of(m->header.source);
  const auto ahead = static_cast<std::int32_t>(m->header.sequence - stream.next);
  if (ahead > 0) return early_.add(m) ? verdict::early : verdict::repeated;
  if (ahead < 0) return verdict::repeated;
  do {
    ++stream.next;
    ready.push_back(std::move(m));
    m = early_.take(stream.source, stream.next);
  } while (m != nullptr);
  return verdict::admitted;
}

bool streams::admit_next(const message_header& header) {
  if (!early_.empty()) return false;
  stream& stream = of(header.source);
  if (header.sequence != stream.next) return false;
  ++stream.next;
  return true;
}

std::uint32_t streams::told_epoch(rank_id source) {
  if (first_.source == source.value()) return first_.told_epoch;
  const stream* const known = more_.find(source.value());
  return known != nullptr ? known->told_epoch : 0;
}

bool streams::sound(std::uint32_t ranks) {
  if (first_.source == stream::nobody) return more_.empty() && first_.next == 0 && first_.told_epoch == 0;
  return first_.source < ranks && more_.sound(ranks, first_.source);
}

void streams::absorb(lone_stream& stream) {
  NACRE_ASSERT(first_.source == stream::nobody, "streams take over the first of them");
  first_.source = stream.source_;
  first_.next = stream.next_;
  stream = {};
}

bool streams::reduce_to(lone_stream& stream) noexcept {
  if (!more_.empty() || !early_.empty() || first_.told_epoch != 0) return false;
  stream.source_ = first_.source;
  stream.next_ = first_.next;
  first_ = {};
  return true;
}

void streams::note_told(rank_id source, std::uint32_t epoch) { of(source.value()).told_epoch = epoch; }

std::vector<rank_id> streams::sources() const {
  std::vector<rank_id> all;
  if (empty()) return all;
  all.reserve(1 + more_.all().size());
  all.emplace_back(first_.source);
  for (const stream& each : more_.all()) all.emplace_back(each.source);
  std::sort(all.begin(), all.end());
  return all;
}

void streams::take_early(message_list& taken) { early_.take_all(taken); }

}  // namespace nacre
