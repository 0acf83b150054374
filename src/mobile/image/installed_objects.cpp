// SPDX-License-Identifier: Apache-2.0
// Making the mobile objects of a rank from an image.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/image_rows.hpp>

#include "mobile/directory/epoch_guard.hpp"
#include "mobile/entry/empty_element.hpp"
#include "mobile/entry/restored_flag.hpp"
#include "mobile/image/object_images.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t epoch_elsewhere = 2;  // of an object that is not at home; one that is has epoch 1

/// Messages that an object keeps; each must fit its class.
std::unique_ptr<kept_messages> read_kept_messages(reader& in, const image_names& names, object_id object,
                                                  const detail::object_type& type, std::uint32_t ranks) {
  std::uint32_t count = 0;
  in(count);
  if (count == 0) return nullptr;
  auto kept = std::make_unique<kept_messages>();
  for (std::uint32_t index = 0; index < count; ++index) {
    std::uint32_t handler = 0, source = 0;
    std::uint8_t flags = 0;
    channel way{};
    std::span<const std::byte> payload;
    in(handler, source, flags, way, payload);
    const detail::handler_info* const row = names.handler(handler);
    if (!in.ok() || row == nullptr || row->tag == nullptr || row->target_key != type.key) {
      throw image_misfit("an object of the class " + std::string(type.name) + " keeps a message that does not fit it");
    }
    message_ptr m = make_message(payload.size());
    m->header.kind = message_kind::object;
    m->header.object = object.value();
    m->header.handler = row->id.value();
    m->header.source = source % ranks;  // in a larger job it may have been a rank that is none here
    m->header.flags = flags & flag_communication;
    m->header.channel = way;
    m->header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    if (!payload.empty()) std::memcpy(m->body(), payload.data(), payload.size());
    const std::uint64_t tag = row->tag(*m);
    static_cast<void>(kept->keep(std::move(m), tag));  // nobody waits
  }
  return kept;
}

/// A message that lay at an object of that class.
message_ptr read_lying(reader& in, const image_names& names, const detail::object_type& type, std::uint32_t ranks) {
  std::uint32_t handler = 0, source = 0;
  std::uint8_t flags = 0;
  message_kind kind{};
  channel way{};
  std::span<const std::byte> payload;
  in(handler, source, kind, flags, way, payload);
  const detail::handler_info* const row = names.handler(handler);
  const bool ends = kind == message_kind::destroy && handler == no_handler;
  const bool fits =
      (kind == message_kind::object || kind == message_kind::everyone) && row != nullptr && row->target_key == type.key;
  if (!in.ok() || (!ends && !fits) || static_cast<std::size_t>(way) >= channel_count)
    throw image_misfit("an object of the class " + std::string(type.name) + " has a message that does not fit it");
  message_ptr m = make_message(payload.size());
  m->header.kind = kind;
  m->header.handler = ends ? 0 : row->id.value();
  m->header.source = source % ranks;  // in a larger job it may have been a rank that is none here
  m->header.flags = static_cast<std::uint8_t>((flags & (flag_communication | flag_uncounted)) | flag_restored);
  m->header.channel = way;
  if (!payload.empty()) std::memcpy(m->body(), payload.data(), payload.size());
  return m;
}

}  // namespace

bool object_images::nothing_made() const {
  return parts_.entries.size() == 0 && parts_.creation.last_index().load() == 0 &&
         parts_.arrays.next_numbers().ordinal == 0;
}

void object_images::open(const std::vector<array_image>& arrays, const object_numbers& numbers) {
  for (const array_image& each : arrays) {
    const detail::array_row* const row = detail::find_array_row(each.row);
    if (row == nullptr) {
      throw image_misfit("the image has an array of " + each.type +
                         " with a placement that this program does not mention: it was taken by another program or "
                         "version");
    }
    const bool of_program = each.location == static_cast<std::uint8_t>(location_policy::of_program);
    if (!of_program && !location_rules::known(each.location))
      throw image_misfit("an array has a location policy that is none");
    parts_.arrays.reopen({.shape = each.shape,
                          .type = row->type,
                          .home = row->home,
                          .list = row->list,
                          .ranks = each.ranks,
                          .dense = each.dense,
                          .location = static_cast<location_policy>(each.location)},
                         {each.first, each.ordinal});
  }
  parts_.arrays.go_on_from({numbers.next_array_first, numbers.last_array});
  parts_.creation.last_index().store(numbers.last_object, std::memory_order_relaxed);
  parts_.contributed.go_on_behind(numbers.last_section);
}

void object_images::add(const std::vector<detail::section_on_rank>& sections) {
  for (const detail::section_on_rank& each : sections) parts_.contributed.add_section(each);
}

std::map<std::uint32_t, std::vector<object_elsewhere>> object_images::install(std::span<const std::byte> objects,
                                                                              const image_names& names) {
  std::map<std::uint32_t, std::vector<object_elsewhere>> elsewhere;
  const epoch_guard guard(thread_);
  reader in(objects);
  while (in.remaining() != 0) install_one(in, names, elsewhere);
  return elsewhere;
}

void object_images::install_one(reader& in, const image_names& names,
                                std::map<std::uint32_t, std::vector<object_elsewhere>>& elsewhere) {
  std::uint64_t value = 0, bytes = 0;
  std::uint32_t number = 0;
  std::uint8_t policy = 0;
  double pace = 0;
  in(value, number, policy, pace);
  const object_id id = object_id::from_value(value);
  const detail::object_type* const type = names.type(number);
  if (!in.ok() || type == nullptr || !location_rules::known(policy) || !id.valid() || pace < 0)
    throw image_misfit("the objects of the image cannot be read");
  object_state state;
  state.type = type;
  state.policy = static_cast<location_policy>(policy);
  state.pace = pace;
  state.kept = read_kept_messages(in, names, id, *type, messages_.size());
  in(bytes);
  in.align(archive_alignment);
  reader body(in.view_bytes(bytes));
  const object_function unpack{"serialize, or the default constructor,", *type, id, &parts_.arrays};
  if (in.ok()) state.object = call_named(unpack, [&] { return type->unpack(body); });
  if (state.object == nullptr || !body.finish()) {
    throw image_misfit("an object of the class " + std::string(type->name) +
                       " does not unpack: its serialize reads other members than it wrote, or has changed");
  }
  if (id.is_element() && parts_.arrays.find(id) == nullptr) throw image_misfit("an element has no array");
  if (parts_.homes.home_is_here(id)) {
    if (parts_.entries.find(id) != nullptr) throw image_misfit("an object is there twice");
    if (!id.is_element()) return static_cast<void>(parts_.creation.install(thread_, id, std::move(state)));
    return parts_.lifetime.adopt_element(thread_, id, std::move(state));
  }
  install_away(id, std::move(state));
  elsewhere[parts_.homes.home_of(id).value()].push_back({id.value(), policy});
}

void object_images::install_lying(std::span<const std::byte> messages, const image_names& names) {
  const epoch_guard guard(thread_);
  reader in(messages);
  while (in.remaining() != 0) {
    std::uint64_t value = 0;
    std::uint32_t count = 0;
    in(value, count);
    object_entry* const entry = in.ok() ? parts_.entries.find(object_id::from_value(value)) : nullptr;
    if (entry == nullptr || entry->object() == nullptr || !entry->arrivals.begin_idle())
      throw image_misfit("the image has messages to an object that it does not have");
    message_list& pending = entry->need_extra().pending;
    for (std::uint32_t index = 0; index < count; ++index) {
      message_ptr m = read_lying(in, names, *messages_.handlers().type(entry->type), messages_.size());
      m->header.object = value;
      if (m->counted()) thread_.counters().created.add(1);
      pending.push_back(std::move(m));
    }
    message_list none;
    parts_.activation.run_step(*entry, thread_, none, may_run::no);
  }
}

/// Makes this rank the place, not the home, of an object.
void object_images::install_away(object_id id, object_state state) {
  const detail::object_type& type = *state.type;
  parts_.access.check_object(type, id, state.object);
  const object_declaration said = declared_by(type, state.object, id, parts_.arrays);
  object_entry& entry = parts_.numbers.entry_elsewhere(id);
  if (entry.object() != nullptr || !entry.arrivals.begin_idle()) throw image_misfit("an object is there twice");
  state.epoch = epoch_elsewhere;
  entry.put_state(state);
  static_cast<void>(entry.location.learn({messages_.rank(), epoch_elsewhere, state.policy}));
  thread_.record(trace::event_kind::create, id.value());
  if (declares(type)) parts_.view.publish(entry, said);
  parts_.activation.finish_step(entry, thread_, may_run::no);
}

void object_images::tell_home(rank_id holder, std::span<const object_elsewhere> objects) {
  const epoch_guard guard(thread_);
  for (const object_elsewhere& each : objects) {
    const object_id id = object_id::from_value(each.object);
    const known_location location{holder, epoch_elsewhere, static_cast<location_policy>(each.policy)};
    object_entry* const entry =
        id.is_element() ? parts_.numbers.place_at_home(id) : &parts_.entries.find_or_add(id, {messages_.rank(), 0});
    if (entry == nullptr || !entry->location.learn(location)) {
      messages_.fail("the image has an object on rank " + std::to_string(holder.value()) + " that has no home here");
      return;
    }
    const std::shared_ptr<array_home> array = id.is_element() ? parts_.arrays.find(id) : nullptr;
    if (array != nullptr) parts_.contributed.element_came(*array, array_table::number_of(id) - array->first);
  }
}

void object_images::begin_arrays() {
  parts_.arrays.note_agreed();
  parts_.arrays.for_each([&](array_home& each) { parts_.contributed.begin(thread_, each.first); });
}

}  // namespace nacre
