// SPDX-License-Identifier: Apache-2.0
// Phases begin, wait, go on and end.
#include "trace/phases.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/fnv1a.hpp"

namespace nacre::trace {
namespace {

constexpr std::string_view other_phases = "(other phases)";

/// The name as it counts.
std::string_view bounded(std::string_view name) {
  if (name.empty()) return "(unnamed)";
  if (name.size() <= phase_name_bytes_max) return name;
  std::size_t end = phase_name_bytes_max;
  const auto continues = [&](std::size_t index) { return (static_cast<unsigned char>(name[index]) & 0xc0) == 0x80; };
  while (end > phase_name_bytes_max - 4 && continues(end)) --end;  // a character of UTF-8 has at most 4 bytes
  return name.substr(0, end);
}

/// The name as it is shown: control characters would break lines of tables.
std::string shown(std::string_view name) {
  std::string text(name);
  for (char& each : text) {
    if (static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = '?';
  }
  return text;
}

}  // namespace

phase_names::numbered phase_names::find(std::string_view name) {
  const std::scoped_lock held(mutex_);
  auto place = numbers_.find(name);
  if (place == numbers_.end() && numbers_.size() + 1 >= phases_max) place = numbers_.find(name = other_phases);
  if (place == numbers_.end()) {
    place = numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1)).first;
    if (file_ != nullptr) {
      const nlohmann::ordered_json text{{"number", place->second}, {"name", shown(name)}};
      file_->append({.kind = block_kind::phase, .rank = rank_},
                    text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
  }
  return {place->first, place->second};
}

phase_stack::~phase_stack() {
  // relaxed: no other thread uses the list any more
  for (bucket& each : buckets_) {
    std::unique_ptr<phase_entry> first(each.load(std::memory_order_relaxed));
    while (first != nullptr) first = std::move(first->next);
  }
}

phase_entry& phase_stack::entry_of(std::string_view name) {
  const auto find = [this](std::string_view wanted) -> std::pair<bucket&, phase_entry*> {
    fnv1a<std::uint32_t> hash;
    hash.add(wanted);
    bucket& place = buckets_[hash.value() % buckets_.size()];
    phase_entry* each = place.load(std::memory_order_relaxed);  // of this thread
    while (each != nullptr && each->name != wanted) each = each->next.get();
    return {place, each};
  };
  if (phase_entry* const known = find(name).second; known != nullptr) return *known;
  const phase_names::numbered told = names_.find(name);  // another name if there are too many
  const auto [place, known] = find(told.name);
  return known != nullptr ? *known : add(place, told);
}

phase_entry& phase_stack::add(bucket& place, phase_names::numbered numbered) {
  auto result = std::make_unique<phase_entry>();
  result->name = numbered.name;
  result->number = numbered.number;
  result->next.reset(place.load(std::memory_order_relaxed));  // of this thread
  place.store(result.get(), std::memory_order_release);       // pairs with the acquire in for_each
  return *result.release();
}

void phase_stack::record(event_kind kind, std::uint32_t number) {
  if (events_ == nullptr) return;
  if (kind == event_kind::end) {
    events_->add(kind);
  } else {
    events_->add(kind, number);
  }
}

/// Gives the innermost phase its time up to `instant`.
void phase_stack::accrue(std::uint64_t instant) {
  // The counters of two cores may differ by a few ticks.
  if (innermost_ != nullptr && instant > accrued_) innermost_->entry->own_time.add(instant - accrued_);
  accrued_ = instant;
}

void phase_stack::enter(detail::open_phase& entered, event_kind kind, std::uint64_t instant) {
  entered.stack = this;
  entered.continued = instant;
  entered.outer = innermost_;
  entered.runs = true;
  ++entered.entry->open;
  innermost_ = &entered;
  record(kind, entered.entry->number);
}

/// The time of a phase ends that is, or has just been, in the list. Inside a phase of its name it is in the time of
/// that.
void phase_stack::leave(detail::open_phase& left, std::uint64_t instant) {
  left.runs = false;
  if (--left.entry->open == 0 && instant > left.continued) left.entry->whole.add(instant - left.continued);
}

void phase_stack::begin(detail::open_phase& opened, const void* owner, std::string_view name) {
  phase_entry& entry = entry_of(bounded(name));
  const std::uint64_t instant = now();
  accrue(instant);
  opened.entry = &entry;
  opened.owner = owner;
  opened.begun = instant;
  entry.count.add(1);
  enter(opened, event_kind::phase_begin, instant);
}

void phase_stack::end(detail::open_phase& ended) {
  if (!ended.runs) return;
  const std::uint64_t instant = now();
  accrue(instant);
  std::vector<detail::open_phase*> inner;  // that go on, though they have begun later
  for (detail::open_phase* each = innermost_; each != &ended; each = each->outer) inner.push_back(each);
  (inner.empty() ? innermost_ : inner.back()->outer) = ended.outer;
  leave(ended, instant);
  if (ended.entry->open == 0 && instant > ended.begun) ended.entry->elapsed.add(instant - ended.begun);
  record(event_kind::end, 0);
  for (std::size_t index = 0; index < inner.size(); ++index) record(event_kind::end, 0);
  std::for_each(inner.rbegin(), inner.rend(),
                [this](const detail::open_phase* each) { record(event_kind::phase_resume, each->entry->number); });
}

detail::open_phase* phase_stack::suspend(const void* owner) {
  if (innermost_ == nullptr || (owner != nullptr && innermost_->owner != owner)) return nullptr;
  const std::uint64_t instant = now();
  accrue(instant);
  detail::open_phase* const taken = innermost_;
  detail::open_phase* outermost = nullptr;
  for (; innermost_ != nullptr && (owner == nullptr || innermost_->owner == owner); innermost_ = innermost_->outer) {
    leave(*innermost_, instant);
    record(event_kind::end, 0);
    outermost = innermost_;
  }
  outermost->outer = nullptr;
  return taken;
}

void phase_stack::resume(detail::open_phase* innermost) {
  const std::uint64_t instant = now();
  accrue(instant);
  detail::open_phase* inside = nullptr;  // turns the list round, so that the outermost comes first
  while (innermost != nullptr) inside = std::exchange(innermost, std::exchange(innermost->outer, inside));
  while (inside != nullptr) {
    detail::open_phase& next = *inside;
    inside = next.outer;
    if (next.stack != this) next.entry = &entry_of(next.entry->name);
    enter(next, event_kind::phase_resume, instant);
  }
}

std::vector<phase_row> rank_phases::rows(double seconds_a_tick) const {
  std::map<std::string, phase_row> sums;
  const auto seconds = [&](const thread_counter& ticks) { return static_cast<double>(ticks.read()) * seconds_a_tick; };
  for (const auto& stack : stacks_) {
    stack->for_each([&](const phase_entry& each) {
      phase_row& sum = sums[shown(each.name)];
      sum.count += each.count.read();
      sum.seconds += seconds(each.own_time);
      sum.whole_seconds += seconds(each.whole);
      sum.elapsed_seconds += seconds(each.elapsed);
    });
  }
  std::vector<phase_row> rows;
  for (auto& [name, sum] : sums) {
    sum.name = name;
    sum.most_seconds = sum.seconds;
    sum.most_rank = rank_;
    rows.push_back(std::move(sum));
  }
  return rows;
}

}  // namespace nacre::trace
