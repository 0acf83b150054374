// SPDX-License-Identifier: Apache-2.0
// Adding messages, and running one for each token.
#include "am/ordered_messages.hpp"

#include <mutex>
#include <utility>

#include "am/am_engine.hpp"

namespace nacre {

void ordered_messages::append(message_ptr m) noexcept {
  const std::scoped_lock lock(busy_);
  if (taken_ == first::oldest) return entries_.push_back(std::move(m));
  entries_.push_front(std::move(m));
}

/// After the messages, so that each token finds one.
void ordered_messages::make_ready(thread_context& by, std::uint32_t count) {
  for (std::uint32_t each = 0; each < count; ++each) by.pool().make_ready(by, token_);
}

void ordered_messages::put_back(thread_context& by, message_ptr rest) {
  {
    const std::scoped_lock lock(busy_);
    rests_.push_back(std::move(rest));
  }
  make_ready(by);
}

void ordered_messages::run_first(work& item, thread_context& on) {
  ordered_messages& of = static_cast<token&>(item).owner;
  message_ptr m;
  {
    const std::scoped_lock lock(of.busy_);
    m = of.rests_.empty() ? of.entries_.pop_front() : of.rests_.pop_front();
  }
  on.messages().run_taken(on, std::move(m), of);
}

}  // namespace nacre
