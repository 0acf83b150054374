// SPDX-License-Identifier: Apache-2.0
// Hands the messages of a rank's main to the workers of that rank, many at a time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <nacre/message.hpp>
#include <nacre/work.hpp>

#include "am/main_send_window.hpp"
#include "am/ordered_messages.hpp"
#include "base/biased_lock.hpp"
#include "base/cache_line.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

/// A message that another thread runs costs both threads several cache lines: the message, its place in a deque, the
/// counters that tell whether a worker sleeps. So packed messages of main to its own rank share a bundle, which costs
/// them once.
///
/// Invariant: workers take messages in the order in which main has sent them. Closed bundles, and messages that hold
/// live values, are entries of one queue; see ordered_messages.
///
/// | main sends | bundle is open | none is open, last one closed long ago | none is open |
/// |---|---|---|---|
/// | packed, fits | joins it | is an entry | opens one |
/// | packed, does not fit | closes it, opens one | is an entry | opens one |
/// | live values | closes it, is an entry | is an entry | is an entry |
///
/// Main closes the open bundle when it waits, the poll loop closes it `bound_ticks` after the first message.
///
/// One worker runs the parts of a bundle one after the other. So only handlers that have been seen to be short share
/// bundles: long ones, and those that have never run, are entries, which other workers can take at once.
///
/// Messages to objects of the rank go into separate bundles, which are no entries of a queue: one work item runs all of
/// them. The caller checks that their handlers are short.
///
/// Threads: `append` by the application's thread; the others by any thread context of the rank.
class main_aggregator final : public send_buffer {
 public:
  struct settings {
    std::size_t bytes_max = 8 * 1024;    ///< room of a bundle
    std::uint64_t bound_ticks = 0;       ///< how long a message waits for company
    std::uint64_t short_ticks = 0;       ///< a handler that takes less is short
    main_send_window* window = nullptr;  ///< in which the messages take room; null: in none
    /// Takes the next bundle for objects, by one thread at a time; returns the item to make ready, or null.
    std::function<work*(message_ptr)> to_objects{};
  };
  main_aggregator(thread_context& main, const settings& settings);
  main_aggregator(const main_aggregator&) = delete;
  main_aggregator& operator=(const main_aggregator&) = delete;

  enum class opened : std::uint8_t { no, yes };
  /// Takes a message of main to the workers of its rank; its header is complete. A packed one takes room in the window
  /// here; one of live values has done so, because measuring these runs user code. Tells whether it has opened a
  /// bundle, so that the poll loop must be told of it.
  [[nodiscard]] opened append(message_ptr m);
  enum class joined : std::uint8_t { no, yes, first };
  /// Takes a short message of main to an object that is here, of simple values or packed; its header is complete. `no`:
  /// send it alone, because the last message was long ago. `first`: it has opened a bundle; wake the poll loop.
  [[nodiscard]] joined append_to_object(message_ptr& m);
  /// The next message to an object goes alone. The application's thread.
  void close_for_objects();
  void flush(thread_context& thread) override;
  /// Notes how many ticks a message for `handler` took; of several in a bundle, their average.
  void note_ticks(std::uint32_t handler, std::uint64_t ticks) noexcept {
    const bool is_short = ticks < settings_.short_ticks;
    std::atomic<bool>& known = short_[handler % short_.size()];
    if (known.load(std::memory_order_relaxed) != is_short) known.store(is_short, std::memory_order_relaxed);  // a hint
  }
  /// As aggregator::flush_overdue.
  std::uint64_t flush_overdue(thread_context& thread);

 private:
  static constexpr std::uint32_t room_min = 512;
  /// Bundles of one form, one after the other.
  struct filling {
    message_ptr open;               // that main fills, or null
    std::uint32_t used = 0;         // bytes of it
    std::uint32_t room = room_min;  // bytes of this bundle, or of the next one
    std::uint64_t closed_at = 0;

    [[nodiscard]] bool admits(std::size_t bytes) const noexcept { return open != nullptr && used + bytes <= room; }
    /// Its last bundle was full.
    void grow_room(std::size_t bytes_max) noexcept {
      room = static_cast<std::uint32_t>(std::min<std::size_t>(bytes_max, std::size_t{room} * 2));
    }
    /// Main waits, or is busy elsewhere.
    void shrink_room() noexcept {
      if (used < room / 4) room = std::max(room_min, room / 2);
    }
    [[nodiscard]] message_ptr close(std::uint64_t now) noexcept;
  };
  /// The entries and the item that are to be made ready once the lock has been released.
  struct to_hand_over {
    std::uint32_t entries = 0;
    work* item = nullptr;  // runs the bundles for objects; null: it is ready, or runs, already
  };

  [[nodiscard]] bool belongs_in_bundle(const message& m) const noexcept;
  /// Whether a message may open a bundle: it takes at most half of the room, and the last bundle was closed recently.
  [[nodiscard]] bool may_start(const filling& in, std::size_t bytes, std::uint64_t now) const noexcept {
    return bytes * 2 <= settings_.bytes_max && now - in.closed_at <= settings_.bound_ticks;
  }
  void start_bundle(filling& in, std::uint64_t form, message& first, std::size_t payload_bytes, std::uint64_t now);
  void add_part(filling& in, message& m, std::size_t payload_bytes);
  void close(std::uint64_t now, to_hand_over& handover);
  void close_objects(std::uint64_t now, to_hand_over& handover);
  void close_all(to_hand_over& handover);
  void note_what_waits();
  void hand_over(thread_context& thread, const to_hand_over& handover);

  thread_context& main_;
  const settings settings_;
  ordered_messages entries_;
  std::array<std::atomic<bool>, 256> short_{};  // by handler; handlers with equal remainders share their place

  alignas(cache_line_bytes) biased_lock busy_;  // its owner is main
  filling workers_, objects_;                   // under busy_
};

}  // namespace nacre
