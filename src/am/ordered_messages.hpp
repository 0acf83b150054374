// SPDX-License-Identifier: Apache-2.0
// Messages that the workers of a rank take in the order in which they have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/message.hpp>
#include <nacre/work.hpp>

#include "base/spinlock.hpp"

namespace nacre {

class thread_context;

/// A queue beside the scheduler. What a scheduler pops depends on which thread has pushed it: each has a deque of its
/// own, and one rank's messages arrive at whichever thread polls. So the messages wait here, and the scheduler gets a
/// token for each. All tokens are the same item of work: a worker that pops one runs the oldest message.
///
/// If the scheduler wants the newest work first, a token runs the newest message; so a tree of messages between ranks
/// needs no room for its width. Under any scheduler the same holds for messages that handlers of this process have sent
/// to a rank that has too much to do, with two exceptions: messages that one item of work has sent run in the order
/// sent, and now and then a token runs the oldest message of all. Messages of main keep their order.
///
/// A bundle is one message. Its runner may put back the parts that it has no time for; they are the oldest then. Two
/// workers may run two bundles at one time, so only a rank of one worker runs all parts in order.
///
/// Any thread of the rank.
class ordered_messages {
 public:
  enum class first : std::uint8_t { oldest, newest };
  explicit ordered_messages(first taken = first::oldest) noexcept : taken_(taken) {}
  ordered_messages(const ordered_messages&) = delete;
  ordered_messages& operator=(const ordered_messages&) = delete;

  /// Adds the newest message. The caller makes it ready afterwards.
  void append(message_ptr m) noexcept;
  /// As append, for a message that an item of work of this process has sent: thread_context::item. Under `pressure` it
  /// becomes the first, or comes behind those of the same item that are still here.
  void append_of(std::uint32_t item, bool pressure, message_ptr m);
  /// Takes the message that the next token runs; null if there is none.
  [[nodiscard]] message_ptr take_first() noexcept;
  /// Hands the scheduler tokens for so many messages that have been appended.
  void make_ready(thread_context& thread, std::uint32_t count = 1);
  /// Adds the rest of a bundle that has begun, and makes it ready.
  void put_back(thread_context& thread, message_ptr rest);

 private:
  struct token : work {
    explicit token(ordered_messages& ordered_messages) noexcept : work(&run_first), owner(ordered_messages) {}
    ordered_messages& owner;
  };
  static void run_first(work& item, thread_context& thread);

  const first taken_;
  token token_{*this};
  spinlock busy_;         // held for some nanoseconds
  message_list entries_;  // under busy_; in the order in which they run
  message_list rests_;    // under busy_; older than all entries
  message_list newest_;   // under busy_; what items have sent under pressure, those of the newest item first
  std::size_t taken_since_oldest_ = 0;
  /// Under busy_: the last message here of the item that runs on each thread of the sending rank.
  struct item_end {
    std::uint32_t item = 0;
    bool in_newest = false;
    message* last = nullptr;
  };
  std::vector<item_end> item_ends_;  // grows with the first message of a thread
};

}  // namespace nacre
