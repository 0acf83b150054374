// SPDX-License-Identifier: Apache-2.0
// One rank's end of a job whose messages travel by MPI.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/pace.hpp"
#include "base/parker.hpp"
#include "base/spin.hpp"
#include "transport/brief_header.hpp"
#include "transport/mpi/module.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::mpi {

inline constexpr std::uint32_t header_bytes = sizeof(message_header);

/// What the configuration says.
struct settings {
  slot_shape shape{.slots = 0, .bytes = 16384};
  std::size_t output_bytes_max = std::size_t{8} << 20;  ///< for each peer and channel
  std::chrono::nanoseconds pause_max = std::chrono::microseconds(500);
  std::chrono::nanoseconds body_patience = std::chrono::milliseconds(10);     ///< with bodies that stand still
  std::chrono::nanoseconds quiet_lanes_apart = std::chrono::microseconds(2);  ///< between looks at those
  /// How an end that was not closed says so to its peers, and how long it waits for theirs. Where the end of the
  /// process ends the job anyway, it stays silent, so that the process can print why first.
  bool tells_of_failure = true;
  std::chrono::nanoseconds patience_in_failure = std::chrono::milliseconds(200);
};

/// A lock that hardly ever meets anybody: it is held for one look, which may take a burst of pieces. Somebody who waits
/// gives up the core before long.
class turn_lock {
 public:
  [[nodiscard]] bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }  // with unlock
  void lock() noexcept {
    for (backoff patience; !try_lock();) patience.pause();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }  // with try_lock

 private:
  std::atomic<bool> taken_{false};
};

/// What the ends of a process share. It outlives them.
struct shared_state {
  turn_lock turn;     ///< held during every call of MPI, so that it sees one thread at a time
  bool quiet = true;  ///< under turn: every end so far has seen that nothing is under way any more
};

/// The word of a piece that is a payload: its brief header behind a mark. Other pieces have none.
[[nodiscard]] constexpr std::uint32_t word_of_brief(std::uint32_t brief) noexcept { return 1u << brief_bits | brief; }
[[nodiscard]] constexpr bool is_brief(std::uint32_t word) noexcept { return word >> brief_bits == 1; }
static_assert(brief_bits < word_bits);

/// MPI puts a few bytes in front of a piece; with them, too, it is to stay below the power of two at which MPI changes
/// its way.
inline constexpr std::uint32_t slot_bytes_spared = 64;

/// Messages over a lane of small pieces for each channel.
///
/// | message | travels as |
/// |---|---|
/// | header and payload fit a slot | one piece: both, or, where a brief header says all, the payload with it as word |
/// | longer | its header as one piece, the *notice*; then its payload as a body, into the block of its message |
/// | goodbye, or end without one | one piece of one byte on each lane, the *farewell*, the last one there |
///
/// Order: pieces of one lane arrive in order. What comes behind a notice is held until the body is there.
/// Bounds, for each peer and channel: the piece that completes a window is sent to be matched, and with two of those
/// under way the link is full, so at most two windows wait at the receiver; `bodies_max` bodies;
/// output_bytes_max bytes wait here for those. Beyond, submit leaves it. For each channel `sends_max` transfers at all,
/// of which a link has no more than its bodies and pieces_pending_max.
/// A receiver begins about 64 KiB of bodies in a look, and none while 1 MiB is under way to it; the others wait at
/// their senders.
/// Looks: a poller that looks often looks for 2 us at the lane alone where something arrived last, and then at all.
/// Who looks seldom, between pieces of work, or before a sleep, looks at all of them each time.
/// End: `close` flushes and says goodbye. The destructor goes on receiving until every peer has said its farewell, for
/// only then nothing is left at MPI; it does that for a bounded time.
class mpi_endpoint final : public endpoint {
 public:
  /// A window is so many pieces that fill their slots, or more that do not: each counts as an eighth of a slot at
  /// least, for what MPI keeps beside it.
  static constexpr std::uint32_t window_slots = 32;
  static constexpr std::uint32_t short_pieces_in_a_slot = 8;
  static constexpr std::uint32_t bodies_max = 4;
  static constexpr std::uint32_t sends_max = 512;
  static constexpr std::uint32_t pieces_pending_max = 32;  ///< of a link, that MPI has not taken

  mpi_endpoint(rank_id own, std::uint32_t size, std::unique_ptr<port> end, std::shared_ptr<shared_state> shared,
               const settings& how);
  mpi_endpoint(const mpi_endpoint&) = delete;
  mpi_endpoint& operator=(const mpi_endpoint&) = delete;
  ~mpi_endpoint() override;

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const capabilities& declared() const noexcept override;

  void submit(rank_id to, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override { sleeper_.unpark(); }
  std::optional<failure> failed() override;
  bool unsent() const noexcept override;
  void close(std::chrono::nanoseconds timeout) override;

 private:
  enum class farewell : std::uint8_t { goodbye = 1, abandoned = 2 };
  struct incoming {
    message_ptr m;
    bool complete = false;
  };
  /// One channel of one peer.
  struct link {
    message_list waiting;
    std::size_t waiting_bytes = 0;
    std::size_t window_filled = 0;      // bytes, since the last piece that is to be matched
    std::uint32_t matched_pending = 0;  // those that are not matched yet
    std::uint32_t pieces_pending = 0;   // that MPI has not taken
    std::uint32_t bodies_pending = 0;
    std::list<incoming> held;  // from the oldest body that is not there yet
    bool over = false;         // it has said its farewell here
  };
  /// `left`: it has said its farewell on some lane. `lost`: what it sends makes no sense, or MPI does not reach it.
  struct peer {
    enum class state : std::uint8_t { present, left, lost };
    state now = state::present;
    std::array<link, lane_count> links;
  };
  struct place {
    std::uint32_t peer;
    std::uint32_t lane;
  };
  struct announced {
    place source;
    message_header header;
    incoming* into;
  };
  /// Something under way at MPI; a ticket is its index.
  struct transfer {
    enum class kind : std::uint8_t { unused, piece, matched, body, arriving };
    std::uint32_t ticket = 0;
    kind what = kind::unused;
    place of{};
    message_ptr m;             // what is read
    incoming* into = nullptr;  // or written
    std::array<std::byte, sizeof(message_header)> notice{};
  };

  // endpoint_send.cpp
  [[nodiscard]] bool full(const link& to, std::uint32_t lane) const noexcept;
  void start(place where, message_ptr m);
  void send_piece(place where, message_ptr m);
  [[nodiscard]] bool completes_window(link& to, std::size_t piece_bytes) const noexcept;
  void send_notice_and_body(place where, message_ptr m);
  [[nodiscard]] std::uint32_t next_ticket();
  transfer& begin(transfer::kind what, place of);
  void settle(transfer& it, outcome how);
  bool complete_transfers();
  bool pump();

  // endpoint_receive.cpp
  enum class reach : std::uint8_t { all, recent };  // which lanes: all, or that where the last piece came
  bool progress(message_list& arrived, std::size_t messages_max, reach where);
  bool take_next(std::uint32_t lane, message_list& arrived);
  void take(const arrival& piece, message_list& arrived);
  void take_brief(const arrival& piece, message_list& arrived);
  [[nodiscard]] link* link_of(const arrival& piece);
  static void deliver(link& from, message_ptr m, message_list& arrived);
  void accept(const arrival& piece, message_ptr m, message_list& arrived);
  void accept_farewell(const arrival& piece, farewell what);
  void accept_notice(place source, const message_header& header);
  void begin_bodies();
  void deliver_complete(place source, message_list& arrived);
  void lose(std::uint32_t rank, std::string reason);
  void note(failure what);
  void break_down();

  // endpoint.cpp
  [[nodiscard]] bool flushed() const noexcept;
  [[nodiscard]] std::uint32_t transfers_under_way() const noexcept {
    return receiving_ + sending_[0] + sending_[1] + sending_[2];
  }
  [[nodiscard]] bool all_over() const noexcept;
  void say(farewell what);
  void forget_waiting(std::uint32_t rank);
  template <class Condition>
  bool receive_until(Condition over, std::chrono::nanoseconds timeout);
  void leave_to_mpi();
  bool sleep_a_little(std::chrono::nanoseconds most);

  rank_id rank_;
  std::unique_ptr<port> port_;
  std::shared_ptr<shared_state> shared_;
  settings settings_;
  std::vector<peer> peers_;                          // by rank
  std::vector<place> busy_;                          // links where something waits
  std::deque<transfer> transfers_;                   // by ticket
  std::vector<std::uint32_t> free_;                  // tickets that nothing uses
  std::array<std::uint32_t, lane_count> sending_{};  // transfers under way that send, by lane
  std::uint32_t receiving_ = 0;                      // bodies under way to this rank
  std::uint32_t burst_ = 1;                          // pieces that the next poll takes at most
  std::size_t receiving_bytes_ = 0;                  // of those
  std::size_t begun_bytes_ = 0;                      // of those, in this look
  std::deque<announced> announced_;                  // bodies that are not begun yet
  message_list own_;                                 // submitted to the own rank
  message_list seen_;                                // received while waiting
  std::vector<place> bodies_arrived_;                // links whose oldest body may be there now
  std::deque<failure> failures_;
  std::atomic<bool> troubled_{false};                    // failures_ holds something
  std::atomic<bool> stirred_{true};                      // something has moved since the last pause; written under turn
  std::chrono::steady_clock::time_point still_since_{};  // of who waits: nothing has moved since then
  parker sleeper_;
  const bool words_;              // the port carries them
  std::uint32_t recent_ = 0;      // under turn: the lane where the last piece came
  pace body_patience_;            // under turn: with bodies that stand still, before others are begun
  pace quiet_lanes_;              // under turn: when to look at them beside a busy one
  std::uint32_t idle_looks_ = 0;  // under turn: since something has moved
  bool broken_ = false;           // MPI does not receive any more
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace nacre::transport::mpi
