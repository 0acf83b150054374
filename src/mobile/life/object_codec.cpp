// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of objects.
#include "mobile/life/object_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/buffer.hpp>

#include "am/am_engine.hpp"
#include "am/handler_table.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/entry/restored_flag.hpp"

namespace nacre {
namespace {

/// The body of an arrival that stays in one address space.
struct live_arrival {
  object_state state;
  migration_request asked;
};

live_arrival& live(message& m) noexcept { return *std::launder(reinterpret_cast<live_arrival*>(m.body())); }

constexpr body_ops live_ops{nullptr, nullptr, [](message& m) noexcept { std::destroy_at(&live(m)); }};

message_ptr packed(message_ptr m) { return am_engine::packed_to_leave(std::move(m)); }

void pack_all(message_list& messages) {
  message_list done;
  while (message_ptr m = messages.pop_front()) done.push_back(packed(std::move(m)));
  messages = std::move(done);
}

/// Packs the arguments of all messages that wait: live values cannot leave.
void pack_waiting(object_state& state) {
  pack_all(state.pending);
  state.order.replace_early(packed);
  if (state.kept != nullptr) state.kept->replace(packed);
  if (state.colocations == nullptr) return;
  state.colocations->for_each_stream([](participation::held_stream& each) {
    if (each.join != nullptr) each.join = packed(std::move(each.join));
    pack_all(each.followers);
  });
}

/// Header, then payload, of a packed message.
template <class Out>
void write_message(Out& out, const message& m) {
  out(m.header, m.payload());
}
template <class Out>
void write_messages(Out& out, const message_list& messages) {
  for (const message* m = messages.front(); m != nullptr; m = m->next) write_message(out, *m);
}

/// Whether a message may wait for the object of that name: only messages that object_sender::post puts into its stream
/// may.
bool may_wait(const message_header& header, std::uint64_t object, std::uint32_t ranks) noexcept {
  constexpr unsigned flags = (message_flags_known & ~(flag_path | flag_returned)) | flag_restored;
  return follows_object(header.kind) && header.object == object && header.source < ranks &&
         (header.flags & ~flags) == 0;
}

bool read_messages(reader& in, std::uint64_t object, std::uint32_t ranks, message_list& messages) {
  std::uint32_t count = 0;
  in(count);
  for (std::uint32_t index = 0; index < count && in.ok(); ++index) {
    message_header header;
    std::span<const std::byte> payload;
    in(header, payload);
    if (!in.ok() || payload.size() != header.payload_bytes || !may_wait(header, object, ranks)) return false;
    message_ptr m = make_message(payload.size());
    m->header = header;
    if (!payload.empty()) std::memcpy(m->body(), payload.data(), payload.size());
    messages.push_back(std::move(m));
  }
  return in.ok();
}

/// Messages that the object has kept; each must fit its class.
bool read_kept(reader& in, std::uint64_t object, std::uint32_t ranks, object_state& state) {
  message_list all;
  bool keeps = false;
  in(keeps);
  if (!read_messages(in, object, ranks, all) || (!keeps && !all.empty())) return false;
  if (keeps) state.kept = std::make_unique<kept_messages>();
  while (message_ptr m = all.pop_front()) {
    const detail::handler_info* const row = handler_table::get().handler(m->header.handler);
    if (row == nullptr || row->tag == nullptr || row->target_key != state.type->key) return false;
    const std::uint64_t tag = row->tag(*m);
    static_cast<void>(state.kept->keep(std::move(m), tag));  // nobody waits
  }
  return true;
}

template <class Out>
void write_participation(Out& out, participation* participation) {
  const colocation_name acquired_by = participation != nullptr ? participation->acquired_by : colocation_name();
  out(acquired_by.rank, acquired_by.number,
      static_cast<std::uint32_t>(participation != nullptr ? participation->stream_count() : 0));
  if (participation == nullptr) return;
  participation->for_each_stream([&](const participation::held_stream& each) {
    const bool blocked = each.join != nullptr;
    out(each.source, blocked, static_cast<std::uint32_t>(each.followers.size() + (blocked ? 1 : 0)));
    if (blocked) write_message(out, *each.join);
    write_messages(out, each.followers);
  });
}

bool read_participation(reader& in, std::uint64_t object, std::uint32_t ranks, std::unique_ptr<participation>& target) {
  colocation_name acquired_by;
  std::uint32_t count = 0;
  in(acquired_by.rank, acquired_by.number, count);
  if (!in.ok() || acquired_by.rank >= ranks) return false;
  if (count == 0) return acquired_by.number == 0;
  target = std::make_unique<participation>();
  target->acquired_by = acquired_by;
  for (std::uint32_t index = 0; index < count; ++index) {
    participation::held_stream one;
    bool blocked = false;
    in(one.source, blocked);
    if (!read_messages(in, object, ranks, one.followers)) return false;
    if (blocked) one.join = one.followers.pop_front();
    if (blocked != (one.join != nullptr) || !target->put_back(std::move(one))) return false;
  }
  return acquired_by.number == 0 || target->holds(acquired_by);
}

/// The place of the packed object in an arrival, and whether the object's last buffer is the message.
struct place {
  std::uint32_t begin = 0;  ///< a multiple of archive_alignment
  bool in_buffer = false;
};
/// The least size of a buffer that becomes the message.
constexpr std::size_t buffer_bytes_min = 16 * 1024;
/// Bytes left free in front of an object with a copied buffer, so that the buffer moves on without a copy.
constexpr std::size_t spare_bytes = 128;

/// `head`: the number of bytes before the object. `may_adopt`: its last buffer may become the message.
place place_of(std::size_t head, const sizer& object, bool may_adopt) {
  const std::size_t least = (head + archive_alignment - 1) & ~(archive_alignment - 1);
  const auto [room, bytes] = object.last_buffer();
  const std::size_t plain_bytes = object.size() - bytes;
  if (bytes < buffer_bytes_min || !may_adopt) return {static_cast<std::uint32_t>(least)};
  const bool fits = room >= least + plain_bytes && (room - plain_bytes) % archive_alignment == 0;
  return {static_cast<std::uint32_t>(fits ? room - plain_bytes : least + spare_bytes), fits};
}

/// Packs the object at `place` into a message, which has room for a head in front of it.
message_ptr packed_object(const object_function& serialize, void* object, const sizer& size, const place& place) {
  NACRE_EXPECT(place.begin + size.size() <= payload_bytes_max, "an object that moves is longer than 1 GiB");
  const std::size_t last_bytes = place.in_buffer ? size.last_buffer().bytes : 0;
  const std::size_t bytes = size.size() - last_bytes;
  message_ptr m = place.in_buffer ? nullptr : make_message(place.begin + bytes);
  std::vector<std::byte> apart(place.in_buffer ? bytes : 0);  // the buffer is known only after packing
  buffer last;
  const std::span<std::byte> memory = place.in_buffer ? std::span(apart) : std::span(m->body() + place.begin, bytes);
  writer out = place.in_buffer ? writer(memory, last) : writer(memory);
  call_named(serialize, [&] { serialize.type.pack(object, out); });
  NACRE_ENSURE(out.size() == bytes && last.size() == last_bytes,
               "a serialize function wrote another number of bytes than it announced");
  if (!place.in_buffer) return m;
  m = detail::buffer_parts::into_message(last, place.begin + bytes);
  std::memcpy(m->body() + place.begin, apart.data(), bytes);
  return m;
}

/// The number that the header of an arrival tells.
std::uint32_t waiting_in(const object_state& state, const migration_request& asked) noexcept {
  const std::size_t all = state.pending.size() + state.order.early_count() + (state.colocations != nullptr ? 1 : 0) +
                          (state.kept != nullptr ? state.kept->count() : 0) + (state.windows != nullptr ? 1 : 0) +
                          (asked.reply != 0 ? 1 : 0);
  return static_cast<std::uint32_t>(std::min<std::size_t>(all, ~std::uint32_t{0}));
}

message_ptr packed(object_id id, object_state& state, const migration_request& asked, bool may_adopt,
                   const object_names* names) {
  pack_waiting(state);
  const subscribers no_listeners;
  const source_windows no_windows;
  place place;
  const auto write = [&](auto& out) {
    out(state.type->id.value(), state.epoch, static_cast<std::uint8_t>(state.policy), state.pace, asked, state.order,
        state.listeners != nullptr ? *state.listeners : no_listeners,
        state.windows != nullptr ? *state.windows : no_windows, state.traffic, state.contributed);
    out(static_cast<std::uint32_t>(state.pending.size()));
    write_messages(out, state.pending);
    out(static_cast<std::uint32_t>(state.order.early_count()));
    state.order.for_each_early([&](const message& m) { write_message(out, m); });
    write_participation(out, state.colocations.get());
    out(state.kept != nullptr, static_cast<std::uint32_t>(state.kept != nullptr ? state.kept->count() : 0));
    if (state.kept != nullptr) state.kept->for_each([&](const message& m) { write_message(out, m); });
    out(place.begin);
  };
  sizer head, object;
  write(head);
  const object_function serialize{"serialize", *state.type, id, names};
  call_named(serialize, [&] { state.type->count(state.object, object); });
  place = place_of(head.size(), object, may_adopt);
  // Packs the object once, at its final place; archives count positions from their own beginning only.
  message_ptr m = packed_object(serialize, state.object, object, place);
  writer out(std::span<std::byte>(m->body(), place.begin));
  write(out);
  std::memset(m->body() + head.size(), 0, place.begin - head.size());
  return m;
}

message_ptr addressed(message_ptr m, object_id id, std::uint32_t waiting) {
  m->header.kind = message_kind::arrival;
  m->header.sequence = waiting;
  m->header.object = id.value();
  return m;
}

}  // namespace

message_ptr make_arrival(object_id id, object_state state, const migration_request& asked, bool by_pointer,
                         const object_names* names) {
  const std::uint32_t waiting = waiting_in(state, asked);
  if (!by_pointer) return addressed(packed(id, state, asked, true, names), id, waiting);
  message_ptr m = make_message(sizeof(live_arrival));
  ::new (static_cast<void*>(m->body())) live_arrival{std::move(state), asked};
  m->ops = &live_ops;
  return addressed(std::move(m), id, waiting);
}

message_ptr copy_object(object_id id, object_state& state) {
  return addressed(packed(id, state, {}, false, nullptr), id, waiting_in(state, {}));
}

std::optional<object_state> take_arrival(message_ptr& m, migration_request& asked, std::uint32_t ranks,
                                         const object_names* names) {
  if (!m->packed()) {
    asked = live(*m).asked;
    return std::move(live(*m).state);
  }
  object_state state;
  std::uint32_t type = 0;
  reader in(m->payload());
  std::uint8_t policy = 0;
  subscribers listeners;
  source_windows windows;
  in(type, state.epoch, policy, state.pace, asked, state.order, listeners, windows, state.traffic, state.contributed);
  state.type = handler_table::get().type(type);
  if (!in.ok() || state.type == nullptr || asked.source >= ranks || !state.order.sound(ranks)) return std::nullopt;
  // The epoch rises by one with each move, and with the end, which may be a move of its own.
  if (state.epoch == 0 || state.epoch > last_epoch_of_moves + 1) return std::nullopt;
  if (!std::isfinite(state.pace) || state.pace < 0) return std::nullopt;
  if (!location_rules::known(policy) || !listeners.sound(ranks) || !windows.sound(ranks)) return std::nullopt;
  if (!state.traffic.sound()) return std::nullopt;
  state.policy = static_cast<location_policy>(policy);
  if (!listeners.empty()) state.listeners = std::make_unique<subscribers>(std::move(listeners));
  if (!windows.empty()) state.windows = std::make_unique<source_windows>(std::move(windows));
  message_list early;
  const std::uint64_t id = m->header.object;
  if (!read_messages(in, id, ranks, state.pending) || !read_messages(in, id, ranks, early)) return std::nullopt;
  if (!read_participation(in, id, ranks, state.colocations)) return std::nullopt;
  if (!read_kept(in, id, ranks, state)) return std::nullopt;
  std::uint32_t begin = 0;
  in(begin);
  if (begin < in.position() || begin > m->header.payload_bytes || begin % archive_alignment != 0) return std::nullopt;
  reader object_in(m->payload().subspan(begin), m);
  const object_function object_function{"serialize, or the default constructor,", *state.type,
                                        object_id::from_value(id), names};
  state.object = call_named(object_function, [&] { return state.type->unpack(object_in); });
  if (state.object == nullptr || !object_in.finish()) return std::nullopt;
  while (message_ptr each = early.pop_front()) {
    if (state.order.admit(each, state.pending) == streams::verdict::repeated) return std::nullopt;
  }
  return state;
}

}  // namespace nacre
