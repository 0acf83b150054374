// SPDX-License-Identifier: Apache-2.0
// Lifetime of messages: their pooled blocks and the change from live values to bytes.
#include <nacre/message.hpp>

#include <new>
#include <string>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/block.hpp>
#include <nacre/error.hpp>

namespace nacre {
namespace {

/// Gives a block that holds the payload of `packet` its header, too; the number of bytes stays that of the block.
void take_header(message& block, const message& packet) noexcept {
  const std::uint32_t payload_bytes = block.header.payload_bytes;
  block.header = packet.header;
  block.header.payload_bytes = payload_bytes;
}

}  // namespace

void release_message(message* m) noexcept {
  if (m->ops != nullptr) m->ops->destroy(*m);
  release_block(m);
}

void check_payload(std::size_t bytes, std::size_t bytes_max) {
  if (bytes <= bytes_max) [[likely]]
    return;
  throw usage_error("a message of " + std::to_string(bytes) + " bytes, where at most " + std::to_string(bytes_max) +
                    " fit: send it in parts");
}

message_ptr make_message(std::size_t body_bytes) {
  check_payload(body_bytes);
  return detail::make_block(body_bytes);
}

message_ptr detail::make_block(std::size_t body_bytes) {
  message_ptr m(new (allocate_block(sizeof(message) + body_bytes)) message);
  m->header.payload_bytes = static_cast<std::uint32_t>(body_bytes);
  return m;
}

message_ptr detail::pack_values(message_ptr m) {
  if (m->ops->adopt != nullptr) {
    if (message_ptr same = m->ops->adopt(*m)) {
      take_header(*same, *m);
      return same;
    }
  }
  const std::size_t bytes = m->ops->packed_size(*m);
  message_ptr packed = make_message(bytes);
  take_header(*packed, *m);
  writer out(std::span<std::byte>(packed->body(), bytes));
  m->ops->pack(*m, out);
  NACRE_ENSURE(out.size() == bytes, "a serialize function wrote another number of bytes than it announced");
  return packed;
}

}  // namespace nacre
