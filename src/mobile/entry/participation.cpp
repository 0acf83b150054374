// SPDX-License-Identifier: Apache-2.0
// Blocking and unblocking streams.
#include "mobile/entry/participation.hpp"

#include <algorithm>

#include <nacre/assert.hpp>

namespace nacre {

void participation::hold(message_ptr join) {
  const std::uint32_t source = join->header.source;
  auto place = std::find_if(held_.begin(), held_.end(), [&](const held_stream& s) { return s.source == source; });
  if (place == held_.end()) {
    place = held_.emplace(held_.end());
    place->source = source;
  }
  place->join = std::move(join);
}

bool participation::defer_front(message_list& pending) {
  const message_header& header = pending.front()->header;
  if (header.kind == message_kind::claim) return false;  // belongs to no stream
  for (held_stream& each : held_) {
    if (each.source != header.source) continue;
    if (each.join == nullptr) return false;
    each.followers.push_back(pending.pop_front());
    return true;
  }
  return false;
}

bool participation::is_blocked(std::uint32_t source) const noexcept {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const held_stream& each) { return each.source == source && each.join != nullptr; });
}

bool participation::passes(std::uint32_t source) const noexcept {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const held_stream& each) { return each.source == source && each.join == nullptr; });
}

std::size_t participation::find(const colocation_name& name) const noexcept {
  const auto place = std::find_if(held_.begin(), held_.end(), [&](const held_stream& s) {
    return s.join != nullptr && s.source == name.rank && s.join->header.reply == name.number;
  });
  return static_cast<std::size_t>(place - held_.begin());
}

message_ptr participation::resume(const colocation_name& name, message_list& pending) {
  const std::size_t index = find(name);
  NACRE_ASSERT(index < held_.size(), "a colocation has ended at an object that takes no part in it");
  held_stream& ended = held_[index];
  message_ptr join = std::move(ended.join);
  message_list first;
  bool another = false;
  while (!another && !ended.followers.empty()) {
    another = ended.followers.front()->header.kind == message_kind::join;
    first.push_back(ended.followers.pop_front());
  }
  if (!another) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
  first.append(pending);
  pending = std::move(first);
  return join;
}

std::vector<message_ptr> participation::dissolve(message_list& pending) {
  std::vector<message_ptr> joins;
  message_list all;
  std::vector<held_stream> passing;
  for (held_stream& each : std::exchange(held_, {})) {
    if (each.join != nullptr) {
      joins.push_back(std::move(each.join));
      all.append(each.followers);
    } else {
      passing.push_back(std::move(each));
    }
  }
  while (message_ptr m = pending.pop_front()) {
    const bool joins_again = m->header.kind == message_kind::join;
    const std::uint32_t source = m->header.source;
    all.push_back(std::move(m));
    for (held_stream& each : passing) {
      if (joins_again && each.source == source) all.append(each.followers);
    }
  }
  for (held_stream& each : passing) all.append(each.followers);  // a peer has sent a stream without its join
  pending = std::move(all);
  return joins;
}

bool participation::put_back(held_stream stream) {
  if (stream.join != nullptr &&
      (stream.join->header.kind != message_kind::join || stream.join->header.source != stream.source)) {
    return false;
  }
  const bool known =
      std::any_of(held_.begin(), held_.end(), [&](const held_stream& each) { return each.source == stream.source; });
  if (known) return false;
  held_.push_back(std::move(stream));
  return true;
}

}  // namespace nacre
