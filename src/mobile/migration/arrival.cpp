// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of objects that move.
#include "mobile/migration/arrival.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <nacre/archive.hpp>

#include "am/handler_table.hpp"

namespace nacre {
namespace {

/// The body of an arrival that stays in one address space.
struct live_arrival {
  std::unique_ptr<resident> body;
  migration_request asked;
};

live_arrival& live(message& m) noexcept { return *std::launder(reinterpret_cast<live_arrival*>(m.body())); }

constexpr body_ops live_ops{nullptr, nullptr, [](message& m) noexcept { std::destroy_at(&live(m)); }};

/// Header, then payload, of every message that waits. A message of live values is packed first.
std::vector<message_ptr> packed_pending(message_list& pending) {
  std::vector<message_ptr> packed;
  packed.reserve(pending.size());
  while (message_ptr m = pending.pop_front()) packed.push_back(packed_form(std::move(m)));
  return packed;
}

template <class Out>
void write_messages(Out& out, const std::vector<message_ptr>& messages) {
  out(static_cast<std::uint32_t>(messages.size()));
  for (const message_ptr& m : messages) {
    out(m->header);
    out(m->payload());
  }
}

/// Whether a message may wait for the object of that name: what is put into its stream by object_space::post.
bool may_wait(const message_header& header, std::uint64_t object, std::uint32_t ranks) noexcept {
  const bool kind = header.kind == message_kind::object || header.kind == message_kind::migrate ||
                    header.kind == message_kind::destroy;
  return kind && header.object == object && header.source < ranks && (header.flags & ~message_flags_known) == 0;
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

}  // namespace

message_ptr make_arrival(object_id id, std::unique_ptr<resident> body, const migration_request& asked,
                         bool by_pointer) {
  message_ptr m;
  if (by_pointer) {
    m = make_message(sizeof(live_arrival));
    ::new (static_cast<void*>(m->body())) live_arrival{std::move(body), asked};
    m->ops = &live_ops;
  } else {
    message_list early_list;
    body->order.take_early(early_list);
    const std::vector<message_ptr> pending = packed_pending(body->pending);
    const std::vector<message_ptr> early = packed_pending(early_list);
    const auto write = [&](auto& out) {
      out(body->type->id.value(), body->epoch, body->handler_seconds, asked, body->order);
      write_messages(out, pending);
      write_messages(out, early);
    };
    sizer size;
    write(size);
    std::vector<std::byte> object(body->type->packed_size(body->object));
    writer object_out{std::span<std::byte>(object)};
    body->type->pack(body->object, object_out);
    size(object);
    m = make_message(size.size());
    writer out(std::span<std::byte>(m->body(), size.size()));
    write(out);
    out(object);
  }
  m->header.kind = message_kind::arrival;
  m->header.object = id.value();
  return m;
}

std::unique_ptr<resident> take_arrival(message& m, migration_request& asked, std::uint32_t ranks) {
  if (!m.packed()) {
    asked = live(m).asked;
    return std::move(live(m).body);
  }
  auto body = std::make_unique<resident>();
  std::uint32_t type = 0;
  reader in(m.payload());
  in(type, body->epoch, body->handler_seconds, asked, body->order);
  body->type = handler_table::get().type(type);
  message_list early;
  if (!in.ok() || body->type == nullptr || asked.source >= ranks || !body->order.sound(ranks)) return nullptr;
  // The epoch rises by one with each move, and with the end.
  if (body->epoch == 0 || body->epoch == std::numeric_limits<std::uint32_t>::max()) return nullptr;
  if (!std::isfinite(body->handler_seconds)) return nullptr;
  const std::uint64_t object_value = m.header.object;
  if (!read_messages(in, object_value, ranks, body->pending) || !read_messages(in, object_value, ranks, early)) return nullptr;
  std::span<const std::byte> object;
  in(object);
  if (!in.finish()) return nullptr;
  reader object_in(object);
  body->object = body->type->unpack(object_in);
  if (body->object == nullptr || !object_in.finish()) return nullptr;
  while (message_ptr each = early.pop_front()) {
    if (body->order.admit(each, body->pending) == streams::verdict::repeated) return nullptr;
  }
  return body;
}

}  // namespace nacre
