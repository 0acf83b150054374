// SPDX-License-Identifier: Apache-2.0
// Notes the work of objects by thread, and puts it together.
#include "mobile/object/step_record.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nacre {

namespace {
constexpr std::size_t slots_at_first = 64;
}

/// The slot of an object, or the free one where it belongs. Some slot is free.
step_record::row& step_record::slot_of(std::vector<row>& slots, object_id object) noexcept {
  std::size_t place = object.value() * 0x9E3779B97F4A7C15U >> 20U;
  for (;; ++place) {
    row& slot = slots[place & (slots.size() - 1)];
    if (slot.object == object || !slot.object.valid()) return slot;
  }
}

void step_record::grow(page& page) {
  std::vector<row> slots(std::max(slots_at_first, 2 * page.slots.size()));
  for (const row& each : page.slots) {
    if (each.object.valid()) slot_of(slots, each.object) = each;
  }
  page.slots = std::move(slots);
}

void step_record::note(std::size_t thread, object_id object, double seconds, std::uint64_t instant) {
  page& page = pages_[thread];
  const std::scoped_lock lock(page.guard);
  if (page.known.last == 0) page.known.first = instant;
  page.known.last = std::max<std::uint64_t>(instant, 1);
  page.known.seconds += seconds;
  if (4 * page.known.objects >= 3 * page.slots.size() && page.known.objects < rows_of_thread_) grow(page);
  row& slot = slot_of(page.slots, object);
  if (!slot.object.valid()) {
    if (page.known.objects == rows_of_thread_) return;
    slot.object = object;
    ++page.known.objects;
  }
  slot.seconds += seconds;
  ++slot.steps;
  ++page.known.steps;
}

void step_record::clear() {
  for (page& each : pages_) {
    const std::scoped_lock lock(each.guard);
    each.known = {};
    std::fill(each.slots.begin(), each.slots.end(), row{});
  }
}

step_record::sums step_record::so_far() {
  sums all;
  for (page& each : pages_) {
    const std::scoped_lock lock(each.guard);
    all.seconds += each.known.seconds;
    all.objects += each.known.objects;
    all.steps += each.known.steps;
    if (each.known.last == 0) continue;
    all.first = all.last == 0 ? each.known.first : std::min(all.first, each.known.first);
    all.last = std::max(all.last, each.known.last);
  }
  return all;
}

/// Takes objects from one page after the other, until there are enough, and then adds what other pages have of them.
std::vector<step_record::row> step_record::some(std::size_t most) {
  std::vector<row> all;
  const auto known = [&](object_id object) {
    return std::any_of(all.begin(), all.end(), [&](const row& each) { return each.object == object; });
  };
  for (page& each : pages_) {
    const std::size_t before = all.size();
    const std::scoped_lock lock(each.guard);
    for (auto slot = each.slots.begin(); slot != each.slots.end() && all.size() < most; ++slot) {
      if (slot->object.valid() && (before == 0 || !known(slot->object))) all.push_back({.object = slot->object});
    }
  }
  for (page& each : pages_) {
    const std::scoped_lock lock(each.guard);
    if (each.slots.empty()) continue;
    for (row& sum : all) {
      const row& part = slot_of(each.slots, sum.object);
      sum.seconds += part.seconds;
      sum.steps += part.steps;
    }
  }
  return all;
}

std::vector<step_record::row> step_record::rows() {
  std::vector<row> all;
  for (page& each : pages_) {
    const std::scoped_lock lock(each.guard);
    std::copy_if(each.slots.begin(), each.slots.end(), std::back_inserter(all),
                 [](const row& slot) { return slot.object.valid(); });
  }
  std::sort(all.begin(), all.end(), [](const row& a, const row& b) { return a.object < b.object; });
  std::size_t kept = 0;
  for (const row& each : all) {
    if (kept != 0 && all[kept - 1].object == each.object) {
      all[kept - 1].seconds += each.seconds;
      all[kept - 1].steps += each.steps;
    } else {
      all[kept++] = each;
    }
  }
  all.resize(kept);
  return all;
}

}  // namespace nacre
