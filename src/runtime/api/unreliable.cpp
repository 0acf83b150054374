// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind messages that may be lost.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre::detail {

void refuse_unreliable(const char* subject) {
  throw usage_error(std::string(subject) +
                    " with{.reliable = false}: what may be lost is sent to a rank, or to all ranks, by send");
}

void post_unreliable(engine& core, thread_context& thread, rank_id target, message_ptr m,
                     std::span<const std::span<const std::byte>> apart) {
  if (target.value() >= core.size()) {
    throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  core.throttle(thread);
  core.unreliable_.post(thread, target, std::move(m), apart);
}

void post_unreliable(engine& core, thread_context& thread, to_all_t, message_ptr m,
                     std::span<const std::span<const std::byte>> apart) {
  const message_ptr packed = packed_by_sender(std::move(m));
  for (std::uint32_t rank = 0; rank < core.size(); ++rank) {
    message_ptr copy = make_message(packed->header.payload_bytes);
    copy->header = packed->header;
    std::memcpy(copy->body(), packed->body(), packed->header.payload_bytes);
    post_unreliable(core, thread, rank_id(rank), std::move(copy), apart);
  }
}

}  // namespace nacre::detail
