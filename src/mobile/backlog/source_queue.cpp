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
  waiting_.push_back(std::move(m));
  std::push_heap(waiting_.begin(), waiting_.end(), &is_later);
}

void source_queue::clear(std::uint32_t limit) noexcept {
  if (!cleared_ || is_before(limit_, limit)) limit_ = limit;
  cleared_ = true;
}

message_ptr source_queue::take() {
  if (waiting_.empty() || !is_cleared(waiting_.front()->header.sequence)) return nullptr;
  std::pop_heap(waiting_.begin(), waiting_.end(), &is_later);
  message_ptr first = std::move(waiting_.back());
  waiting_.pop_back();
  return first;
}

std::optional<std::uint32_t> source_queue::ask(std::uint32_t next) noexcept {
  const bool open = asked_ && (!cleared_ || is_before(limit_, end_));
  if (open || waiting_.empty()) return std::nullopt;
  asked_ = true;
  end_ = next;
  return next;
}

message_list source_queue::take_all() {
  std::sort_heap(waiting_.begin(), waiting_.end(), &is_later);  // the last one first
  message_list all;
  while (!waiting_.empty()) {
    all.push_back(std::move(waiting_.back()));
    waiting_.pop_back();
  }
  return all;
}

}  // namespace nacre
