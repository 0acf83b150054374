// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of objects that move.
#include "mobile/migration/arrival.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/buffer.hpp>

#include "am/am_engine.hpp"
#include "am/handler_table.hpp"
#include "mobile/location/policies.hpp"
#include "mobile/object/object_functions.hpp"

namespace nacre {
namespace {

/// The body of an arrival that stays in one address space.
struct live_arrival {
  object_state state;
  migration_request asked;
};

live_arrival& live(message& m) noexcept { return *std::launder(reinterpret_cast<live_arrival*>(m.body())); }

constexpr body_ops live_ops{nullptr, nullptr, [](message& m) noexcept { std::destroy_at(&live(m)); }};

/// Packs all messages: a message of live values cannot leave as it is.
message_list packed_all(message_list& messages) {
  message_list packed;
  while (message_ptr m = messages.pop_front()) packed.push_back(am_engine::packed_to_leave(std::move(m)));
  return packed;
}

/// Header, then payload, of every message that waits.
template <class Out>
void write_messages(Out& out, const message_list& messages) {
  out(static_cast<std::uint32_t>(messages.size()));
  for (const message* m = messages.front(); m != nullptr; m = m->next) out(m->header, m->payload());
}

/// Whether a message may wait for the object of that name: only messages that object_space::post puts into its stream
/// may.
bool may_wait(const message_header& header, std::uint64_t object, std::uint32_t ranks) noexcept {
  return follows_object(header.kind) && header.object == object && header.source < ranks &&
         (header.flags & ~(message_flags_known & ~(flag_path | flag_returned))) == 0;
}

bool read_messages(reader& in, std::uint64_t object, std::uint32_t ranks, message_list& into) {
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
    into.push_back(std::move(m));
  }
  return in.ok();
}

/// The contents of a participation, ready to be written.
class packed_participation {
 public:
  explicit packed_participation(std::unique_ptr<participation> of) {
    if (of == nullptr) return;
    acquired_by_ = of->acquired_by;
    for (participation::held_stream& each : of->take_all()) {
      const bool blocked = each.join != nullptr;
      message_list all;
      if (blocked) all.push_back(std::move(each.join));
      all.append(each.behind);
      streams_.push_back({each.source, blocked, packed_all(all)});
    }
  }
  template <class Out>
  void write(Out& out) const {
    out(acquired_by_.rank, acquired_by_.number, static_cast<std::uint32_t>(streams_.size()));
    for (const packed_stream& each : streams_) {
      out(each.source, each.blocked);
      write_messages(out, each.messages);
    }
  }

 private:
  struct packed_stream {
    std::uint32_t source;
    bool blocked;
    message_list messages;
  };
  colocation_name acquired_by_;
  std::vector<packed_stream> streams_;
};

bool read_participation(reader& in, std::uint64_t object, std::uint32_t ranks, std::unique_ptr<participation>& into) {
  colocation_name acquired_by;
  std::uint32_t count = 0;
  in(acquired_by.rank, acquired_by.number, count);
  if (!in.ok() || acquired_by.rank >= ranks) return false;
  if (count == 0) return acquired_by.number == 0;
  into = std::make_unique<participation>();
  into->acquired_by = acquired_by;
  for (std::uint32_t index = 0; index < count; ++index) {
    participation::held_stream one;
    bool blocked = false;
    in(one.source, blocked);
    if (!read_messages(in, object, ranks, one.behind)) return false;
    if (blocked) one.join = one.behind.pop_front();
    if (blocked != (one.join != nullptr) || !into->put_back(std::move(one))) return false;
  }
  return acquired_by.number == 0 || into->holds(acquired_by);
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

/// `head`: the number of bytes before the object.
place place_of(std::size_t head, const sizer& object) {
  const std::size_t least = (head + archive_alignment - 1) & ~(archive_alignment - 1);
  const auto [before, bytes] = object.last_buffer();
  const std::size_t own = object.size() - bytes;
  if (bytes < buffer_bytes_min) return {static_cast<std::uint32_t>(least)};
  const bool fits = before >= least + own && (before - own) % archive_alignment == 0;
  return {static_cast<std::uint32_t>(fits ? before - own : least + spare_bytes), fits};
}

/// Packs the object at `where` into a message, which has room for a head in front of it.
message_ptr packed_object(const object_function& serialize, void* object, const sizer& size, const place& where) {
  NACRE_EXPECT(where.begin + size.size() <= payload_bytes_max, "an object that moves is longer than 1 GiB");
  const std::size_t last_bytes = where.in_buffer ? size.last_buffer().bytes : 0;
  const std::size_t bytes = size.size() - last_bytes;
  message_ptr m = where.in_buffer ? nullptr : make_message(where.begin + bytes);
  std::vector<std::byte> apart(where.in_buffer ? bytes : 0);  // the buffer is known only after packing
  buffer last;
  const std::span<std::byte> memory = where.in_buffer ? std::span(apart) : std::span(m->body() + where.begin, bytes);
  writer out = where.in_buffer ? writer(memory, last) : writer(memory);
  call_named(serialize, [&] { serialize.type.pack(object, out); });
  NACRE_ENSURE(out.size() == bytes && last.size() == last_bytes,
               "a serialize function wrote another number of bytes than it announced");
  if (!where.in_buffer) return m;
  m = detail::buffer_parts::into_message(last, where.begin + bytes);
  std::memcpy(m->body() + where.begin, apart.data(), bytes);
  return m;
}

}  // namespace

message_ptr make_arrival(object_id id, object_state state, const migration_request& asked, bool by_pointer) {
  message_ptr m;
  const std::size_t waiting = state.pending.size() + state.order.early_count() +
                              (state.colocations != nullptr ? 1 : 0) + (state.windows != nullptr ? 1 : 0) +
                              (asked.reply != 0 ? 1 : 0);
  if (by_pointer) {
    m = make_message(sizeof(live_arrival));
    ::new (static_cast<void*>(m->body())) live_arrival{std::move(state), asked};
    m->ops = &live_ops;
  } else {
    message_list set_aside;
    state.order.take_early(set_aside);
    const message_list pending = packed_all(state.pending), early = packed_all(set_aside);
    const packed_participation colocations(std::move(state.colocations));
    const subscribers listeners = state.listeners != nullptr ? *state.listeners : subscribers();
    const source_windows windows = state.windows != nullptr ? *state.windows : source_windows();
    place where;
    const auto write = [&](auto& out) {
      out(state.type->id.value(), state.epoch, static_cast<std::uint8_t>(state.policy), state.handler_seconds, asked,
          state.order, listeners, windows, state.traffic);
      write_messages(out, pending);
      write_messages(out, early);
      colocations.write(out);
      out(where.begin);
    };
    sizer head, object;
    write(head);
    const object_function serialize{"serialize", *state.type, id};
    call_named(serialize, [&] { state.type->count(state.object, object); });
    where = place_of(head.size(), object);
    // Packs the object once, at its final place; archives count positions from their own beginning only.
    m = packed_object(serialize, state.object, object, where);
    writer out(std::span<std::byte>(m->body(), where.begin));
    write(out);
    std::memset(m->body() + head.size(), 0, where.begin - head.size());
  }
  m->header.kind = message_kind::arrival;
  m->header.sequence = static_cast<std::uint32_t>(std::min<std::size_t>(waiting, ~std::uint32_t{0}));
  m->header.object = id.value();
  return m;
}

std::optional<object_state> take_arrival(message_ptr& m, migration_request& asked, std::uint32_t ranks) {
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
  in(type, state.epoch, policy, state.handler_seconds, asked, state.order, listeners, windows, state.traffic);
  state.type = handler_table::get().type(type);
  if (!in.ok() || state.type == nullptr || asked.source >= ranks || !state.order.sound(ranks)) return std::nullopt;
  // The epoch rises by one with each move, and with the end.
  if (state.epoch == 0 || state.epoch == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (!std::isfinite(state.handler_seconds)) return std::nullopt;
  if (!location_rules::known(policy) || !listeners.sound(ranks) || !windows.sound(ranks)) return std::nullopt;
  if (!state.traffic.sound(ranks)) return std::nullopt;
  state.policy = static_cast<location_policy>(policy);
  if (!listeners.empty()) state.listeners = std::make_unique<subscribers>(std::move(listeners));
  if (!windows.empty()) state.windows = std::make_unique<source_windows>(std::move(windows));
  message_list early;
  const std::uint64_t id = m->header.object;
  if (!read_messages(in, id, ranks, state.pending) || !read_messages(in, id, ranks, early)) return std::nullopt;
  if (!read_participation(in, id, ranks, state.colocations)) return std::nullopt;
  std::uint32_t begin = 0;
  in(begin);
  if (begin < in.position() || begin > m->header.payload_bytes || begin % archive_alignment != 0) return std::nullopt;
  reader object_in(m->payload().subspan(begin), m);
  const object_function made{"serialize, or the default constructor,", *state.type, object_id::from_value(id)};
  state.object = call_named(made, [&] { return state.type->unpack(object_in); });
  if (state.object == nullptr || !object_in.finish()) return std::nullopt;
  while (message_ptr each = early.pop_front()) {
    if (state.order.admit(each, state.pending) == streams::verdict::repeated) return std::nullopt;
  }
  return state;
}

}  // namespace nacre
