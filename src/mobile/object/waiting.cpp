// SPDX-License-Identifier: Apache-2.0
// Which objects of a rank cannot go on by themselves, for the report of a deadlock.
#include <cstddef>
#include <string>
#include <vector>

#include "mobile/mobile.hpp"

namespace nacre {
namespace {

/// What has the object, as far as its entry tells; empty: nothing.
std::string_view holder(const entry& at, const entry_extra* extra) {
  if (at.exclusive_coroutine.load(std::memory_order_relaxed) == entry::coroutine::suspended) {  // nothing runs
    return ": its coroutine handler is suspended";
  }
  if (!at.gate.idle()) return ": its const handlers are suspended";
  if (extra != nullptr && extra->together != nullptr) return ": a colocation waits for it or has it";
  return at.arrivals.active() ? ": a main has access to it" : "";
}

}  // namespace

void object_space::name_waiting(std::size_t count_max, std::vector<std::string>& found) const {
  entries_.for_each([&](const entry& at) {
    const location_fact fact = at.fact.read();
    if (found.size() > count_max || fact.rank != messages_.rank() || fact.gone || at.object() == nullptr) return;
    const entry_extra* const extra = at.extra();
    const std::string_view has = holder(at, extra);
    const std::size_t waiting = at.arrivals.count() + (extra != nullptr ? extra->pending.size() : 0);
    const std::size_t early = extra != nullptr ? extra->order.early_count() : 0;
    if (has.empty() && waiting == 0 && early == 0) return;
    std::string line = "object " + std::to_string(at.id.home().value()) + ":" + std::to_string(at.id.index()) + " (" +
                       std::string(messages_.handlers().type(at.type)->name) + ") on rank " +
                       std::to_string(messages_.rank().value()) + std::string(has);
    if (waiting != 0) line += ", messages that wait for it: " + std::to_string(waiting);
    if (early != 0) line += ", messages before earlier ones: " + std::to_string(early);
    found.push_back(std::move(line));
  });
}

}  // namespace nacre
