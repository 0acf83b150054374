// SPDX-License-Identifier: Apache-2.0
// Adding messages, and running one for each token.
#include "am/ordered_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include <nacre/assert.hpp>

#include "am/am_engine.hpp"

namespace nacre {

void ordered_messages::append(message_ptr m) noexcept {
  const std::scoped_lock lock(busy_);
  if (taken_ == first::oldest) return entries_.push_back(std::move(m));
  entries_.push_front(std::move(m));
}

void ordered_messages::append_of(std::uint32_t item, bool pressure, message_ptr m) {
  if (item == 0 || taken_ == first::newest) return append(std::move(m));
  const std::scoped_lock lock(busy_);
  const std::size_t thread = thread_context::thread_of_item(item);
  if (item_ends_.size() <= thread) item_ends_.resize(thread + 1);
  item_end& end = item_ends_[thread];
  message* const added = m.get();
  const bool goes_on = end.last != nullptr && end.item == item;
  if (!goes_on) end = {item, pressure, nullptr};
  if (!end.in_newest) {
    entries_.push_back(std::move(m));
  } else if (goes_on) {
    newest_.insert_behind(*end.last, std::move(m));
  } else {
    newest_.push_front(std::move(m));
  }
  end.last = added;
}

/// The oldest comes seldom, as each that starts a tree of messages makes the front wider.
message_ptr ordered_messages::take_first() noexcept {
  const std::scoped_lock lock(busy_);
  if (message_ptr rest = rests_.pop_front()) return rest;
  const bool oldest_is_due = ++taken_since_oldest_ > std::max<std::size_t>(64, 8 * newest_.size());
  const bool takes_oldest = newest_.empty() || (oldest_is_due && !entries_.empty());
  if (takes_oldest) taken_since_oldest_ = 0;
  message_ptr m = takes_oldest ? entries_.pop_front() : newest_.pop_front();
  if (m != nullptr && !item_ends_.empty() && m->header.kind == message_kind::rank) {
    const std::size_t thread = thread_context::thread_of_item(m->header.sequence);
    if (thread < item_ends_.size() && item_ends_[thread].last == m.get()) item_ends_[thread].last = nullptr;
  }
  return m;
}

/// Called after the messages have been queued, so that each token finds one.
void ordered_messages::make_ready(thread_context& thread, std::uint32_t count) {
  for (std::uint32_t each = 0; each < count; ++each) thread.pool().make_ready(thread, token_);
}

void ordered_messages::put_back(thread_context& thread, message_ptr rest) {
  {
    const std::scoped_lock lock(busy_);
    rests_.push_back(std::move(rest));
  }
  make_ready(thread);
}

void ordered_messages::run_first(work& item, thread_context& thread) {
  ordered_messages& ordered_messages = static_cast<token&>(item).owner;
  message_ptr m = ordered_messages.take_first();
  NACRE_ASSERT(m != nullptr, "the scheduler got more tokens than there are messages");
  thread.messages().run_taken(thread, std::move(m), ordered_messages);
}

}  // namespace nacre
