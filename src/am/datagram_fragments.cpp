// SPDX-License-Identifier: Apache-2.0
// Cutting messages into fragments, and putting them together.
#include "am/datagram_fragments.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

message_ptr make_whole(rank_id source, const fragment_head& head) {
  message_ptr m = make_message(head.message_bytes);
  m->header.handler = head.handler;
  m->header.flags = head.flags;
  m->header.source = source.value();
  return m;
}

}  // namespace

outgoing_fragments::outgoing_fragments(const fragment_head& head, std::span<const std::span<const std::byte>> parts,
                                       std::size_t datagram_bytes, std::uint32_t first_offset) noexcept
    : head_(head), parts_(parts) {
  NACRE_EXPECT(datagram_bytes > sizeof head, "a fragment has room for bytes");
  head_.fragment_bytes = static_cast<std::uint32_t>(datagram_bytes - sizeof head);
  while (head_.offset < first_offset) advance();
}

std::uint32_t outgoing_fragments::length() const noexcept {
  return std::min(head_.fragment_bytes, head_.message_bytes - head_.offset);
}

std::span<const std::span<const std::byte>> outgoing_fragments::pieces() {
  pieces_[0] = std::as_bytes(std::span(&head_, 1));
  const std::uint32_t bytes = length();
  std::size_t count = 1;
  std::size_t place = in_part_;
  std::uint32_t rest = bytes;
  for (std::size_t part = part_; rest != 0; ++part, place = 0) {
    const auto piece = parts_[part].subspan(place).first(std::min<std::size_t>(parts_[part].size() - place, rest));
    if (piece.empty()) continue;
    if (count == pieces_max) {
      copy_together(bytes);
      return std::span(pieces_).first(2);
    }
    pieces_[count++] = piece;
    rest -= static_cast<std::uint32_t>(piece.size());
  }
  return std::span(pieces_).first(count);
}

void outgoing_fragments::copy_together(std::uint32_t bytes) {
  copied_.clear();
  std::size_t place = in_part_;
  for (std::size_t part = part_; copied_.size() < bytes; ++part, place = 0) {
    const auto rest = parts_[part].subspan(place);
    const auto piece = rest.first(std::min(rest.size(), bytes - copied_.size()));
    copied_.insert(copied_.end(), piece.begin(), piece.end());
  }
  pieces_[1] = copied_;
}

void outgoing_fragments::advance() noexcept {
  std::size_t rest = length();
  head_.offset += static_cast<std::uint32_t>(rest);
  is_done_ = head_.offset == head_.message_bytes;
  while (rest != 0) {
    const std::size_t here = std::min(rest, parts_[part_].size() - in_part_);
    in_part_ += here;
    rest -= here;
    if (in_part_ != parts_[part_].size()) continue;
    ++part_;
    in_part_ = 0;
  }
}

bool incoming_fragments::fits(const fragment_head& head, std::size_t bytes) noexcept {
  if (head.message_bytes > unreliable_bytes_max || head.fragment_bytes == 0) return false;
  if ((head.flags & ~flag_communication) != 0) return false;
  if (head.message_bytes == 0) return head.offset == 0 && bytes == 0;
  if (head.offset >= head.message_bytes || head.offset % head.fragment_bytes != 0) return false;
  return bytes == std::min(head.fragment_bytes, head.message_bytes - head.offset);
}

incoming_fragments::outcome incoming_fragments::take(rank_id source, std::span<const std::byte> datagram) {
  fragment_head head;
  if (datagram.size() < sizeof head) return {.is_malformed = true};
  std::memcpy(&head, datagram.data(), sizeof head);
  const auto bytes = datagram.subspan(sizeof head);
  if (!fits(head, bytes.size())) return {.is_malformed = true};
  if (bytes.size() == head.message_bytes) {
    message_ptr m = make_whole(source, head);
    std::copy(bytes.begin(), bytes.end(), m->body());
    return {.whole = std::move(m)};
  }
  const key name{source, head.number};
  const auto known = by_name_.find(name);
  incomplete& message = known != by_name_.end() ? *known->second : begin(name, head);
  const fragment_head& first = message.head;
  const bool agrees = head.message_bytes == first.message_bytes && head.fragment_bytes == first.fragment_bytes &&
                      head.handler == first.handler && head.flags == first.flags;
  const std::size_t index = head.offset / head.fragment_bytes;
  if (!agrees || message.has_come[index]) return {.is_malformed = true};
  message.has_come[index] = true;
  std::copy(bytes.begin(), bytes.end(), message.m->body() + head.offset);
  if (--message.missing != 0) return {};
  message_ptr whole = std::move(message.m);
  remove(by_name_.find(name)->second);
  return {.whole = std::move(whole)};
}

incoming_fragments::incomplete& incoming_fragments::begin(const key& name, const fragment_head& head) {
  while (!by_age_.empty() && kept_bytes_ + head.message_bytes > bytes_max_) {
    ++given_up_;
    remove(by_age_.begin());
  }
  const std::size_t count = (head.message_bytes + std::size_t{head.fragment_bytes} - 1) / head.fragment_bytes;
  by_age_.push_back({.name = name,
                     .head = head,
                     .m = make_whole(name.first, head),
                     .has_come = std::vector<bool>(count),
                     .missing = count});
  by_name_.emplace(name, std::prev(by_age_.end()));
  kept_bytes_ += head.message_bytes;
  return by_age_.back();
}

void incoming_fragments::remove(std::list<incomplete>::iterator position) {
  kept_bytes_ -= position->head.message_bytes;
  by_name_.erase(position->name);
  by_age_.erase(position);
}

}  // namespace nacre
