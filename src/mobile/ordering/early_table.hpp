// SPDX-License-Identifier: Apache-2.0
// Messages that have come before earlier ones of their streams, found by source and sequence number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

/// The early messages of one object: a hash table with chains through the messages' own links, so that a message costs
/// one pointer of the table, two at most just after it has grown.
///
/// Every operation takes constant time on average, for any number of messages, sources and gaps, in any order: there
/// are never more messages than chains. The source and sequence / 8 choose a cache line, sequence % 8 a chain in it, so
/// eight consecutive numbers share a line. Not thread-safe.
class early_table {
 public:
  early_table() = default;
  early_table(early_table&& other) noexcept { swap(other); }
  early_table& operator=(early_table&& other) noexcept {
    swap(other);
    return *this;
  }
  ~early_table() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Adds a message. False: a message with that source and number is there already; then `m` stays with the caller.
  [[nodiscard]] bool add(message_ptr& m);
  /// The message of that source and number; null when it has not come.
  [[nodiscard]] message_ptr take(std::uint32_t source, std::uint32_t sequence) noexcept;
  /// Moves all messages to `taken`, in no order.
  void take_all(message_list& taken) noexcept;

  /// Calls visit(const message&) for each, in no order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const message* head : chains_) {
      for (; head != nullptr; head = head->next) visit(*head);
    }
  }
  /// Replaces each message by replace(message_ptr), which has its source and number. When that throws, the message is
  /// lost and the others stay.
  template <class Replace>
  void replace_each(const Replace& replace) {
    for (message*& head : chains_) {
      for (message** link = &head; *link != nullptr; link = &(*link)->next) {
        message_ptr one(std::exchange(*link, (*link)->next));
        one->next = nullptr;
        --count_;
        one = replace(std::move(one));
        one->next = *link;
        *link = one.release();
        ++count_;
      }
    }
  }

  /// Messages that have been looked at or moved since the beginning. For tests.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  [[nodiscard]] message*& chain_of(std::uint32_t source, std::uint32_t sequence) noexcept;
  void grow();
  void clear() noexcept;
  void swap(early_table& other) noexcept {
    std::swap(chains_, other.chains_);
    std::swap(count_, other.count_);
    std::swap(steps_, other.steps_);
  }

  std::vector<message*> chains_;  // a power of two of them, or none
  std::size_t count_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace nacre
