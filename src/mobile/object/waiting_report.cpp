// SPDX-License-Identifier: Apache-2.0
// The objects of a rank that cannot go on by themselves, and the messages that wait for them elsewhere, for the report
// of a deadlock.
#include "mobile/object/waiting_report.hpp"

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <nacre/task.hpp>

namespace nacre {
namespace {

/// The access that holds the object, as far as its entry tells; empty: none.
std::string_view holder(const object_entry& entry, const object_entry_extra* extra) {
  if (entry.exclusive_coroutine.load(std::memory_order_relaxed) ==
      object_entry::coroutine::suspended) {  // nothing runs
    return ": its coroutine handler is suspended";
  }
  if (!entry.gate.idle()) return ": its const handlers are suspended";
  if (extra != nullptr && extra->colocations != nullptr) return ": a colocation waits for it or has it";
  return entry.arrivals.active() ? ": a main has access to it" : "";
}

/// The coroutine handler that waits for a message of its object; null: none does.
const detail::message_waiter* waiter_of(const object_entry_extra* extra) {
  return extra != nullptr && extra->kept != nullptr ? extra->kept->waiter() : nullptr;
}

}  // namespace

/// The coroutine handler that waits for a message, and the message.
std::string waiting_report::awaited_by(const kept_messages& kept) const {
  const detail::message_waiter& waiter = *kept.waiter();
  const handler_table& table = messages_.handlers();
  return std::string(table.handler(waiter.coroutine->handler().value())->name) + " awaits " +
         std::string(table.handler(waiter.handler)->name) + " with the number " + std::to_string(waiter.tag) +
         (kept.held_up ? ", and the end of the object waits for it" : "");
}

void waiting_report::name_waiting(report_lines& report) const {
  entries_.for_each([&](const object_entry& entry) {
    const known_location location = entry.location.read();
    if (location.rank != messages_.rank() || location.gone || entry.object() == nullptr) return;
    const object_entry_extra* const extra = entry.extra();
    const bool awaits = waiter_of(extra) != nullptr;
    const std::string_view held_by = awaits ? std::string_view() : holder(entry, extra);
    const std::size_t waiting = entry.arrivals.count() + (extra != nullptr ? extra->pending.size() : 0);
    const std::size_t early = extra != nullptr ? extra->order.early_count() : 0;
    if (!awaits && held_by.empty() && waiting == 0 && early == 0) return;
    const auto text = [&] {
      const detail::object_type& type = *messages_.handlers().type(entry.type);
      std::string line = names_.name_of(entry.id) + " (" + std::string(type.name) + ") on rank " +
                         std::to_string(messages_.rank().value()) +
                         (awaits ? ": " + awaited_by(*extra->kept) : std::string(held_by));
      if (waiting != 0) line += ", messages that wait for it: " + std::to_string(waiting);
      if (early != 0) line += ", messages before earlier ones: " + std::to_string(early);
      return line;
    };
    if (awaits) return report.add(report_lines::urgency::numbered, waiter_of(extra)->tag, text);
    report.add(report_lines::urgency::other, 0, text);
  });
}

void waiting_report::name_held_by_handlers(report_lines& report) const {
  name_awaiting_messages(report);
  entries_.for_each([&](const object_entry& entry) {
    const object_entry_extra* const extra = entry.extra();
    if (entry.object() == nullptr || waiter_of(extra) != nullptr || holder(entry, extra).empty()) return;
    report.add(report_lines::urgency::other, 0, [&] {
      return names_.name_of(entry.id) + " on rank " + std::to_string(messages_.rank().value()) +
             std::string(holder(entry, extra));
    });
  });
}

void waiting_report::name_awaiting_messages(report_lines& report) const {
  entries_.for_each([&](const object_entry& entry) {
    const object_entry_extra* const extra = entry.extra();
    if (waiter_of(extra) == nullptr) return;
    report.add(report_lines::urgency::numbered, waiter_of(extra)->tag, [&] {
      return names_.name_of(entry.id) + " on rank " + std::to_string(messages_.rank().value()) + ": " +
             awaited_by(*extra->kept);
    });
  });
}

waiting_report::waiting_messages waiting_report::waiting_at(object_id object, std::uint64_t call) const {
  constexpr std::size_t looked_at = 1024;
  const object_entry* const entry = object.valid() ? entries_.find(object) : nullptr;
  if (entry == nullptr || entry->object() == nullptr) return {};
  waiting_messages match{.messages = entry->arrivals.count()};
  const auto look = [&](const message& m) {
    const bool asks = m.header.kind == message_kind::object || m.header.kind == message_kind::everyone;
    if (asks && m.header.reply == call && m.header.source == messages_.rank().value()) match.has_call = true;
  };
  entry->arrivals.visit_waiting(looked_at, look);
  if (const object_entry_extra* const extra = entry->extra(); extra != nullptr) {
    match.messages += extra->pending.size() + extra->order.early_count();
    std::size_t left = looked_at;
    for (const message* m = extra->pending.front(); m != nullptr && left > 0; m = m->next, --left) look(*m);
  }
  return match;
}

}  // namespace nacre
