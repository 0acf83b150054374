// SPDX-License-Identifier: Apache-2.0
// Hands the messages of a rank's main to the workers of that rank, many at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <nacre/message.hpp>
#include <nacre/work.hpp>

#include "am/main_window.hpp"
#include "base/cache_line.hpp"
#include "base/spinlock.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

/// A message that another thread runs costs both threads several cache lines: the message, its place in a deque, the
/// counters that tell whether a worker sleeps. So packed messages of main to its own rank share a bundle, which costs
/// them once.
///
/// Invariant: workers take messages in the order in which main has sent them. Closed bundles, and messages that hold
/// live values, wait in one queue; the scheduler gets a token for each entry of it. All tokens are the same item of
/// work: a worker that pops one runs the oldest entry, so the order holds whichever thread has pushed the token.
///
/// | main sends | bundle is open | none is open, last one closed long ago | none is open |
/// |---|---|---|---|
/// | packed, fits | joins it | is an entry | opens one |
/// | packed, does not fit | closes it, opens one | is an entry | opens one |
/// | live values | closes it, is an entry | is an entry | is an entry |
///
/// Main closes the open bundle when it waits, the poll loop closes it `bound` after the first message.
///
/// One worker runs the parts of a bundle one after the other. So only handlers that have been seen to be short share
/// bundles: long ones, and those that have never run, are entries, which other workers can take at once.
///
/// Threads: `append` by the application's thread; the others by any thread context of the rank.
class own_bundles final : public send_buffer {
 public:
  struct settings {
    std::size_t bytes_max = 8 * 1024;  ///< room of a bundle
    std::uint64_t bound_ticks = 0;     ///< how long a message waits for company
    std::uint64_t short_ticks = 0;     ///< a handler that takes less is short
    main_window* window = nullptr;     ///< in which the messages take room; null: in none
  };
  own_bundles(thread_context& main, const settings& how);
  own_bundles(const own_bundles&) = delete;
  own_bundles& operator=(const own_bundles&) = delete;

  enum class opened : std::uint8_t { no, yes };
  /// Takes a message of main to the workers of its rank; its header is complete. A packed one takes room in the window
  /// here; one of live values has done so, because measuring these runs user code. Tells whether it has opened a
  /// bundle, so that the poll loop must be told of it.
  [[nodiscard]] opened append(message_ptr m);
  void flush(thread_context& by) override;
  /// A message for `handler` has been run, or several of a bundle with an average, in so many ticks.
  void note_ticks(std::uint32_t handler, std::uint64_t ticks) noexcept {
    const bool is_short = ticks < how_.short_ticks;
    std::atomic<bool>& known = short_[handler % short_.size()];
    if (known.load(std::memory_order_relaxed) != is_short) known.store(is_short, std::memory_order_relaxed);  // a hint
  }
  /// The rest of a bundle whose time is over; it is the oldest entry again.
  void put_back(thread_context& by, message_ptr rest);
  [[nodiscard]] std::uint64_t bound_ticks() const noexcept { return how_.bound_ticks; }

 private:
  static constexpr std::uint32_t room_min = 512;
  struct token : work {
    explicit token(own_bundles& of) noexcept : work(&run_oldest), owner(of) {}
    own_bundles& owner;
  };
  static void run_oldest(work& item, thread_context& on);

  [[nodiscard]] bool belongs_in_bundle(const message& m) const noexcept;
  void start_bundle(const message& first, std::uint64_t now);
  void add_part(const message& m);
  void close(std::uint64_t now);
  void hand_over(thread_context& by, std::uint32_t tokens);

  thread_context& main_;
  const settings how_;
  token token_{*this};
  std::array<std::atomic<bool>, 256> short_{};  // by handler; handlers with equal remainders share their place

  alignas(cache_line_bytes) spinlock busy_;  // held for some tens of nanoseconds
  message_list entries_;                     // under busy_
  message_list rests_;                       // under busy_; of bundles that have begun, older than all entries
  message_ptr open_;                         // under busy_; the bundle that main fills, or null
  std::uint32_t used_ = 0;                   // under busy_; bytes of it
  std::uint32_t room_ = room_min;            // under busy_; bytes of this bundle, or of the next one
  std::uint64_t closed_at_ = 0;              // under busy_
};

}  // namespace nacre
