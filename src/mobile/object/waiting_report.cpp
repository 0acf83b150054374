// SPDX-License-Identifier: Apache-2.0
// The objects of a rank that cannot go on by themselves, and the messages that wait for them elsewhere, for the report
// of a deadlock.
#include "mobile/object/waiting_report.hpp"

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/task.hpp>

#include "mobile/object_space.hpp"

namespace nacre {
namespace {

/// The access that holds the object, as far as its entry tells; empty: none.
std::string_view holder(const object_entry& at, const object_entry_extra* extra) {
  if (at.exclusive_coroutine.load(std::memory_order_relaxed) == object_entry::coroutine::suspended) {  // nothing runs
    return ": its coroutine handler is suspended";
  }
  if (!at.gate.idle()) return ": its const handlers are suspended";
  if (extra != nullptr && extra->colocations != nullptr) return ": a colocation waits for it or has it";
  return at.arrivals.active() ? ": a main has access to it" : "";
}

/// The coroutine handler that waits for a message, and the message.
std::string awaited_by(const object_space& space, const detail::message_waiter& waiter) {
  const handler_table& table = space.messages().handlers();
  return std::string(table.handler(waiter.coroutine->handler().value())->name) + " awaits " +
         std::string(table.handler(waiter.handler)->name) + " with the number " + std::to_string(waiter.tag);
}

}  // namespace

void name_waiting(object_space& space, std::size_t count_max, std::vector<std::string>& found) {
  space.entries().for_each([&](const object_entry& at) {
    const known_location location = at.location.read();
    if (found.size() > count_max || location.rank != space.messages().rank() || location.gone || at.object() == nullptr)
      return;
    const object_entry_extra* const extra = at.extra();
    const detail::message_waiter* const waiter =
        extra != nullptr && extra->kept != nullptr ? extra->kept->waiter() : nullptr;
    const std::string has = waiter != nullptr ? ": " + awaited_by(space, *waiter) : std::string(holder(at, extra));
    const std::size_t waiting = at.arrivals.count() + (extra != nullptr ? extra->pending.size() : 0);
    const std::size_t early = extra != nullptr ? extra->order.early_count() : 0;
    if (has.empty() && waiting == 0 && early == 0) return;
    const detail::object_type& type = *space.messages().handlers().type(at.type);
    std::string line = space.arrays().name_of(at.id) + " (" + std::string(type.name) + ") on rank " +
                       std::to_string(space.messages().rank().value()) + has;
    if (waiting != 0) line += ", messages that wait for it: " + std::to_string(waiting);
    if (early != 0) line += ", messages before earlier ones: " + std::to_string(early);
    found.push_back(std::move(line));
  });
}

void name_awaiting_messages(object_space& space, std::size_t count_max, std::vector<std::string>& found) {
  space.entries().for_each([&](const object_entry& at) {
    const object_entry_extra* const extra = at.extra();
    if (found.size() >= count_max || extra == nullptr || extra->kept == nullptr || extra->kept->waiter() == nullptr)
      return;
    found.push_back(space.arrays().name_of(at.id) + " on rank " + std::to_string(space.messages().rank().value()) +
                    ": " + awaited_by(space, *extra->kept->waiter()));
  });
}

void name_kept_at_source(object_space& space, std::size_t count_max, std::vector<std::string>& found) {
  space.backlog().for_each([&](object_id id, std::size_t count) {
    if (found.size() > count_max) return false;
    const object_entry* const at = space.entries().find(id);
    if (at == nullptr || count == 0) return true;
    found.push_back("rank " + std::to_string(space.messages().rank().value()) + " keeps " + std::to_string(count) +
                    (count == 1 ? " message to " : " messages to ") + space.arrays().name_of(id) +
                    " until it clears them, on rank " + std::to_string(at->location.read().rank.value()) +
                    " as far as is known");
    return true;
  });
}

waiting_messages waiting_at(object_space& space, object_id object, std::uint64_t call) {
  constexpr std::size_t looked_at = 1024;
  const object_entry* const at = object.valid() ? space.entries().find(object) : nullptr;
  if (at == nullptr || at->object() == nullptr) return {};
  waiting_messages found{.messages = at->arrivals.count()};
  const auto look = [&](const message& m) {
    const bool asks = m.header.kind == message_kind::object || m.header.kind == message_kind::everyone;
    if (asks && m.header.reply == call && m.header.source == space.messages().rank().value()) found.has_call = true;
  };
  at->arrivals.visit_waiting(looked_at, look);
  if (const object_entry_extra* const extra = at->extra(); extra != nullptr) {
    found.messages += extra->pending.size() + extra->order.early_count();
    std::size_t left = looked_at;
    for (const message* m = extra->pending.front(); m != nullptr && left > 0; m = m->next, --left) look(*m);
  }
  return found;
}

}  // namespace nacre
