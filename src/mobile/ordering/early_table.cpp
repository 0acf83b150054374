// SPDX-License-Identifier: Apache-2.0
// The hash table of early messages.
#include "mobile/ordering/early_table.hpp"

namespace nacre {
namespace {

constexpr std::size_t chains_min = 8;
constexpr std::size_t chains_kept_max = 64;  // kept by an object without early messages

[[nodiscard]] bool is(const message& m, std::uint32_t source, std::uint32_t sequence) noexcept {
  return m.header.sequence == sequence && m.header.source == source;
}

}  // namespace

/// Must not be called while there are no chains. The upper bits of the product are the well mixed ones.
message*& early_table::chain_of(std::uint32_t source, std::uint32_t sequence) noexcept {
  const std::uint64_t line = ((std::uint64_t{source} << 32 | sequence >> 3) + 1) * 0x9e3779b97f4a7c15U;
  const std::uint64_t mixed = (line ^ line >> 29) * 0xbf58476d1ce4e5b9U;
  const std::uint64_t chain = mixed >> 32 ^ (sequence & 7);
  return chains_[chain & (chains_.size() - 1)];
}

bool early_table::add(message_ptr& m) {
  if (count_ == chains_.size()) grow();
  message*& head = chain_of(m->header.source, m->header.sequence);
  for (const message* each = head; each != nullptr; each = each->next) {
    ++steps_;
    if (is(*each, m->header.source, m->header.sequence)) return false;
  }
  ++steps_;
  m->next = head;
  head = m.release();
  ++count_;
  return true;
}

message_ptr early_table::take(std::uint32_t source, std::uint32_t sequence) noexcept {
  if (count_ == 0) return nullptr;
  ++steps_;
  for (message** link = &chain_of(source, sequence); *link != nullptr; link = &(*link)->next) {
    ++steps_;
    message* const packet = *link;
    if (!is(*packet, source, sequence)) continue;
    *link = packet->next;
    packet->next = nullptr;
    --count_;
    if (count_ == 0 && chains_.size() > chains_kept_max) chains_ = {};
    return message_ptr(packet);
  }
  return nullptr;
}

void early_table::take_all(message_list& taken) noexcept {
  for (message*& head : chains_) {
    while (head != nullptr) {
      message* const first = head;
      head = first->next;
      taken.push_back(message_ptr(first));
    }
  }
  count_ = 0;
  if (chains_.size() > chains_kept_max) chains_ = {};
}

void early_table::grow() {
  std::vector<message*> messages(chains_.empty() ? chains_min : 2 * chains_.size(), nullptr);
  std::swap(messages, chains_);
  for (message* each : messages) {
    while (each != nullptr) {
      ++steps_;
      message* const later = each->next;
      message*& head = chain_of(each->header.source, each->header.sequence);
      each->next = head;
      head = each;
      each = later;
    }
  }
}

void early_table::clear() noexcept {
  message_list all;
  take_all(all);
}

}  // namespace nacre
