// SPDX-License-Identifier: Apache-2.0
// Keeping messages in sequence until they are cleared.
#include "mobile/backlog/source_queue.hpp"

#include <algorithm>
#include <utility>

namespace nacre {
namespace {

bool is_later(const message_ptr& a, const message_ptr& b) noexcept {
  return is_before(b->header.sequence, a->header.sequence);
}

}  // namespace

void source_queue::put(message_ptr m) {
  const std::uint32_t number = m->header.sequence;
  if (in_sequence_.empty() || is_before(last_, number)) {
    last_ = number;
    return in_sequence_.push_back(std::move(m));
  }
  others_.push_back(std::move(m));
  std::push_heap(others_.begin(), others_.end(), &is_later);
}

/// Null when none waits.
const message* source_queue::first() const noexcept {
  const message* const listed = in_sequence_.front();
  if (others_.empty()) return listed;
  const message* const other = others_.front().get();
  return listed != nullptr && is_before(listed->header.sequence, other->header.sequence) ? listed : other;
}

message_ptr source_queue::pop_first() {
  if (first() == in_sequence_.front()) return in_sequence_.pop_front();
  std::pop_heap(others_.begin(), others_.end(), &is_later);
  message_ptr message = std::move(others_.back());
  others_.pop_back();
  return message;
}

void source_queue::clear(std::uint32_t limit) noexcept {
  if (!cleared_ || is_before(limit_, limit)) limit_ = limit;
  cleared_ = true;
}

message_ptr source_queue::take() {
  const message* const next = first();
  return next != nullptr && is_cleared(next->header.sequence) ? pop_first() : nullptr;
}

std::optional<std::uint32_t> source_queue::ask(std::uint32_t next) noexcept {
  const bool open = asked_ && (!cleared_ || is_before(limit_, end_));
  if (open || size() == 0) return std::nullopt;
  asked_ = true;
  end_ = next;
  return next;
}

message_list source_queue::take_all() {
  message_list all;
  while (size() != 0) all.push_back(pop_first());
  return all;
}

}  // namespace nacre
