// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of objects that move.
#include "mobile/migration/arrival.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>

#include "am/handler_table.hpp"
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// The body of an arrival that stays in one address space.
struct live_arrival {
  resident body;
  migration_request asked;
};

live_arrival& live(message& m) noexcept { return *std::launder(reinterpret_cast<live_arrival*>(m.body())); }

constexpr body_ops live_ops{nullptr, nullptr, [](message& m) noexcept { std::destroy_at(&live(m)); }};

/// All packed: a message of live values cannot leave as it is.
message_list packed_all(message_list& messages) {
  message_list packed;
  while (message_ptr m = messages.pop_front()) packed.push_back(packed_form(std::move(m)));
  return packed;
}

/// Header, then payload, of every message that waits.
template <class Out>
void write_messages(Out& out, const message_list& messages) {
  out(static_cast<std::uint32_t>(messages.size()));
  for (const message* m = messages.front(); m != nullptr; m = m->next) out(m->header, m->payload());
}

/// Whether a message may wait for the object of that name: what is put into its stream by object_space::post.
bool may_wait(const message_header& header, std::uint64_t object, std::uint32_t ranks) noexcept {
  return follows_object(header.kind) && header.object == object && header.source < ranks &&
         (header.flags & ~(message_flags_known & ~flag_path)) == 0;
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

/// What a participation has, ready to be written.
class packed_participation {
 public:
  explicit packed_participation(std::unique_ptr<participation> of) {
    if (of == nullptr) return;
    seized_by_ = of->seized_by;
    for (participation::held_stream& each : of->take_all()) {
      const bool stands = each.join != nullptr;
      message_list all;
      if (stands) all.push_back(std::move(each.join));
      all.append(each.behind);
      streams_.push_back({each.source, stands, packed_all(all)});
    }
  }
  template <class Out>
  void write(Out& out) const {
    out(seized_by_.rank, seized_by_.number, static_cast<std::uint32_t>(streams_.size()));
    for (const packed_stream& each : streams_) {
      out(each.source, each.stands);
      write_messages(out, each.messages);
    }
  }

 private:
  struct packed_stream {
    std::uint32_t source;
    bool stands;
    message_list messages;
  };
  colocation_name seized_by_;
  std::vector<packed_stream> streams_;
};

bool read_participation(reader& in, std::uint64_t object, std::uint32_t ranks, std::unique_ptr<participation>& into) {
  colocation_name seized_by;
  std::uint32_t count = 0;
  in(seized_by.rank, seized_by.number, count);
  if (!in.ok() || seized_by.rank >= ranks) return false;
  if (count == 0) return seized_by.number == 0;
  into = std::make_unique<participation>();
  into->seized_by = seized_by;
  for (std::uint32_t index = 0; index < count; ++index) {
    participation::held_stream one;
    bool stands = false;
    in(one.source, stands);
    if (!read_messages(in, object, ranks, one.behind)) return false;
    if (stands) one.join = one.behind.pop_front();
    if (stands != (one.join != nullptr) || !into->put_back(std::move(one))) return false;
  }
  return seized_by.number == 0 || into->holds(seized_by);
}

}  // namespace

message_ptr make_arrival(object_id id, resident body, const migration_request& asked, bool by_pointer) {
  message_ptr m;
  if (by_pointer) {
    m = make_message(sizeof(live_arrival));
    ::new (static_cast<void*>(m->body())) live_arrival{std::move(body), asked};
    m->ops = &live_ops;
  } else {
    message_list set_aside;
    body.order.take_early(set_aside);
    const message_list pending = packed_all(body.pending), early = packed_all(set_aside);
    const packed_participation together(std::move(body.together));
    const subscribers listeners = body.listeners != nullptr ? *body.listeners : subscribers();
    const auto write = [&](auto& out) {
      out(body.type->id.value(), body.epoch, static_cast<std::uint8_t>(body.policy), body.handler_seconds, asked,
          body.order, listeners);
      write_messages(out, pending);
      write_messages(out, early);
      together.write(out);
      out.align(archive_alignment);
    };
    sizer size;
    write(size);
    // The object is packed once, to where it travels; no other archive counts from another begin than its own.
    const std::size_t bytes = body.type->packed_size(body.object);
    m = make_message(size.size() + bytes);
    writer out(std::span<std::byte>(m->body(), size.size()));
    write(out);
    writer object_out(std::span<std::byte>(m->body() + size.size(), bytes));
    body.type->pack(body.object, object_out);
    NACRE_ENSURE(object_out.size() == bytes, "a serialize function wrote another number of bytes than it announced");
  }
  m->header.kind = message_kind::arrival;
  m->header.object = id.value();
  return m;
}

std::optional<resident> take_arrival(message& m, migration_request& asked, std::uint32_t ranks) {
  if (!m.packed()) {
    asked = live(m).asked;
    return std::move(live(m).body);
  }
  resident body;
  std::uint32_t type = 0;
  reader in(m.payload());
  std::uint8_t policy = 0;
  subscribers listeners;
  in(type, body.epoch, policy, body.handler_seconds, asked, body.order, listeners);
  body.type = handler_table::get().type(type);
  if (!in.ok() || body.type == nullptr || asked.source >= ranks || !body.order.sound(ranks)) return std::nullopt;
  // The epoch rises by one with each move, and with the end.
  if (body.epoch == 0 || body.epoch == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (!std::isfinite(body.handler_seconds)) return std::nullopt;
  if (!location_rules::known(policy) || !listeners.sound(ranks)) return std::nullopt;
  body.policy = static_cast<location_policy>(policy);
  if (!listeners.empty()) body.listeners = std::make_unique<subscribers>(std::move(listeners));
  message_list early;
  const std::uint64_t id = m.header.object;
  if (!read_messages(in, id, ranks, body.pending) || !read_messages(in, id, ranks, early)) return std::nullopt;
  if (!read_participation(in, id, ranks, body.together)) return std::nullopt;
  in.align(archive_alignment);
  reader object_in(in.view_bytes(in.remaining()));
  if (!in.finish()) return std::nullopt;
  body.object = body.type->unpack(object_in);
  if (body.object == nullptr || !object_in.finish()) return std::nullopt;
  while (message_ptr each = early.pop_front()) {
    if (body.order.admit(each, body.pending) == streams::verdict::repeated) return std::nullopt;
  }
  return body;
}

}  // namespace nacre
