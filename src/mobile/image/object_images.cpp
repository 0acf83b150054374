// SPDX-License-Identifier: Apache-2.0
// Taking images of the mobile objects of a rank.
#include "mobile/image/object_images.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nacre/image_rows.hpp>

#include "am/message_packing.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/entry/empty_element.hpp"

namespace nacre {

object_numbers object_images::numbers() const {
  const array_table::numbers arrays = parts_.arrays.next_numbers();
  return {parts_.creation.last_index().load(), parts_.contributed.last_section(), arrays.first, arrays.ordinal};
}

std::vector<array_image> object_images::arrays() const {
  std::vector<array_image> all;
  parts_.arrays.for_each([&](array_home& each) {
    const detail::array_layout& layout = each.layout;
    array_image one{.first = each.first,
                    .ordinal = each.ordinal,
                    .shape = layout.shape,
                    .ranks = layout.ranks,
                    .row = detail::image_name_of(layout),
                    .type = std::string(layout.type->name),
                    .dense = layout.dense,
                    .keyed = each.is_keyed(),
                    .location = static_cast<std::uint8_t>(layout.location)};
    if (one.row.empty()) throw image_obstacle("an array of " + one.type + ", whose library has been closed");
    all.push_back(std::move(one));
  });
  return all;
}

std::vector<detail::section_on_rank> object_images::sections() const {
  std::vector<detail::section_on_rank> all;
  parts_.arrays.for_each([&](array_home& each) {
    const std::scoped_lock lock(each.steps_mutex);
    each.sets.for_each_section([&](const contributing_set& set, const std::vector<std::uint64_t>& places) {
      detail::section_on_rank one{.first = each.first,
                                  .section = set.section,
                                  .root = set.root_in_name,
                                  .parent = set.tree.parent,
                                  .children = {},
                                  .places = places};
      for (const rank_run& child : set.tree.children) one.children.push_back(child.begin);
      all.push_back(std::move(one));
    });
  });
  return all;
}

std::vector<steps_image> object_images::steps(image_names& names) const {
  const auto name = [&](std::uint32_t& id) { id = names.number_of(*messages_.handlers().handler(id)); };
  std::vector<steps_image> all = parts_.contributed.save();
  for (steps_image& set : all) {
    for (steps_image::step& each : set.open) {
      name(each.head.handler);
      name(each.head.row);
    }
    for (steps_image::ended& each : set.ended_steps) name(each.handler);
  }
  return all;
}

std::uint64_t object_images::pack(writer& out, writer& lying, image_names& names) {
  const epoch_guard guard(thread_);
  std::uint64_t count = 0;
  parts_.entries.for_each([&](object_entry& entry) {
    if (entry.location.read().rank != messages_.rank() || entry.location.read().gone) return;
    if (!entry.arrivals.begin_idle()) {
      throw image_obstacle(parts_.arrays.name_of(entry.id) + " has messages that wait");
    }
    // Gives the activation back whatever happens.
    const auto give_back = [this](object_entry* held) { parts_.activation.finish_step(*held, thread_, may_run::no); };
    const std::unique_ptr<object_entry, decltype(give_back)> held(&entry, give_back);
    if (entry.object() == nullptr || is_empty_place(entry)) return;
    pack_one(entry, out, names, count);
    pack_lying(entry, lying, names);
  });
  return count;
}

/// The reason why an object cannot be saved, for the sentence "<object> ...". Null: nothing.
const char* object_images::obstacle_of(const object_entry& entry) const {
  if (!entry.gate.idle()) return "has a handler that has not ended";
  const object_entry_extra* const extra = entry.extra();
  if (extra != nullptr && extra->colocations != nullptr) return "has colocations that wait";
  if (extra != nullptr && extra->kept != nullptr && extra->kept->waiter() != nullptr)
    return "has a coroutine that waits for a message";
  const detail::object_type& type = *messages_.handlers().type(entry.type);
  if (type.may_save != nullptr)
    return type.may_save(entry.object()) ? nullptr : "cannot be saved: may_save() says false";
  if (type.may_migrate != nullptr && !type.may_migrate(entry.object()))
    return "cannot be saved: its may_migrate() says false, and its class has no may_save()";
  return nullptr;
}

/// Number, class, policy, pace; messages that it keeps; length, and the object itself from a multiple of 16 on.
void object_images::pack_one(object_entry& entry, writer& out, image_names& names, std::uint64_t& count) {
  const detail::object_type& type = *messages_.handlers().type(entry.type);
  const auto describe = [&] { return parts_.arrays.name_of(entry.id) + " (" + std::string(type.name) + ") "; };
  if (const char* const reason = obstacle_of(entry)) throw image_obstacle(describe() + reason);
  out(entry.id.value(), names.number_of(type), static_cast<std::uint8_t>(entry.location.read().policy),
      entry.pace.load());
  pack_kept(entry, out, names);
  try {
    const std::size_t bytes = packed_size_of(type, entry.object(), entry.id, parts_.arrays);
    out(static_cast<std::uint64_t>(bytes));
    out.align(archive_alignment);
    const std::size_t begin = out.size();
    call_named(object_function{"serialize", type, entry.id, &parts_.arrays}, [&] { type.pack(entry.object(), out); });
    if (out.size() - begin != bytes)
      throw image_obstacle(describe() + "has a serialize that writes another number of bytes than it announced");
  } catch (const detail::unpackable_value& refused) {
    throw image_obstacle(describe() + "cannot be packed: " + refused.what());
  }
  ++count;
}

void object_images::pack_kept(object_entry& entry, writer& out, image_names& names) {
  object_entry_extra* const extra = entry.extra();
  kept_messages* const kept = extra != nullptr ? extra->kept.get() : nullptr;
  out(static_cast<std::uint32_t>(kept != nullptr ? kept->count() : 0));
  if (kept == nullptr) return;
  kept->for_each([&](message& m) {
    if (m.header.reply != 0)
      throw image_obstacle(parts_.arrays.name_of(entry.id) + " keeps a message whose sender waits for its result");
    out(names.number_of(*messages_.handlers().handler(m.header.handler)), m.header.source, m.header.flags,
        m.header.channel, arguments_of(m));
  });
}

std::vector<std::byte> arguments_of(message& m) {
  if (m.packed()) return {m.payload().begin(), m.payload().end()};
  writer out;
  call_named([&] { return packing_of(m.header); }, [&] { m.ops->pack(m, out); });
  return {out.bytes().begin(), out.bytes().end()};
}

/// Name of the object, how many messages; of each the handler or no_handler, source, kind, flags, channel, arguments.
void object_images::pack_lying(object_entry& entry, writer& out, image_names& names) {
  object_entry_extra* const extra = entry.extra();
  if (extra == nullptr || extra->pending.empty()) return;
  out(entry.id.value(), static_cast<std::uint32_t>(extra->pending.size()));
  for (message* m = extra->pending.front(); m != nullptr; m = m->next) {
    const message_header& header = m->header;
    const bool ends = header.kind == message_kind::destroy;
    if (header.reply != 0 || !(ends || header.kind == message_kind::object || header.kind == message_kind::everyone))
      throw image_obstacle(parts_.arrays.name_of(entry.id) + " has a message that somebody awaits");
    out(ends ? no_handler : names.number_of(*messages_.handlers().handler(header.handler)), header.source, header.kind,
        static_cast<std::uint8_t>(header.flags & (flag_communication | flag_uncounted)), header.channel,
        arguments_of(*m));
  }
}

}  // namespace nacre
