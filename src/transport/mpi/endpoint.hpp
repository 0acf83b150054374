// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a job that communicates by MPI.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/parker.hpp"
#include "base/poll_interval.hpp"
#include "base/spinlock.hpp"
#include "transport/busy_links.hpp"
#include "transport/compact_header.hpp"
#include "transport/failure_queue.hpp"
#include "transport/mpi/module.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::mpi {

inline constexpr std::uint32_t header_bytes = sizeof(message_header);

/// The values from the configuration.
struct settings {
  slot_shape shape{.slots = 0, .bytes = 16384};
  std::size_t output_bytes_max = std::size_t{8} << 20;  ///< for each peer and channel
  std::chrono::nanoseconds pause_max = std::chrono::microseconds(500);
  std::chrono::nanoseconds stall_timeout = std::chrono::milliseconds(10);      ///< with payloads that do not move
  std::chrono::nanoseconds idle_poll_interval = std::chrono::microseconds(2);  ///< poll interval of idle channels
  /// Whether an endpoint that was not closed sends its peers a close message, and how long it waits for theirs. Where
  /// the end of the process ends the job anyway, it sends none, so that the process can print the reason first.
  bool tells_of_failure = true;
  std::chrono::nanoseconds patience_in_failure = std::chrono::milliseconds(200);
  /// How long an endpoint that has closed waits for the close messages of its peers.
  std::chrono::nanoseconds patience_at_close = std::chrono::seconds(5);
};

/// Shared by the endpoints of a process, and outlives them.
struct shared_state {
  spinlock lock;      ///< held during every call of MPI, which so sees one thread at a time: for one poll, which may
                      ///< take a burst of fragments
  bool quiet = true;  ///< under `lock`: every end so far has seen all transfers complete
};

/// The word of a fragment that is a payload only: a mark, and its compact header below. Other fragments have the word
/// 0.
[[nodiscard]] constexpr std::uint32_t word_of_compact(std::uint32_t compact) noexcept {
  return 1u << compact_bits | compact;
}
[[nodiscard]] constexpr bool is_compact(std::uint32_t word) noexcept { return word >> compact_bits == 1; }
static_assert(compact_bits < word_bits);

/// MPI puts a few bytes in front of a fragment. Together they must stay below the power of two at which MPI changes its
/// protocol.
inline constexpr std::uint32_t slot_bytes_spared = 64;

/// Each channel of a peer is a stream of fragments.
///
/// | message | travels as |
/// |---|---|
/// | header and payload fit a slot | eager, one fragment: both; or the payload, with a compact header as word |
/// | longer | rendezvous: its header as one fragment, the request; then its payload, into the block of its message |
/// | shutdown or failure | a one-byte close message on each channel, the last fragment there |
///
/// Order: fragments of one channel arrive in order. This endpoint holds the messages behind a rendezvous request until
/// the payload has arrived.
///
/// Bounds, for each peer and channel: the fragment that completes a window is sent as `matched`: it completes when it
/// has been received. With two of those in flight the link is full, so at most two windows wait at the receiver.
/// `payloads_max` payloads are in flight. output_bytes_max bytes wait here for those; beyond that submit leaves the
/// rest with its caller. Each channel has `sends_max` transfers in all, of which a link has at most its payloads and
/// fragments_pending_max. A receiver starts about 64 KiB of payloads in a poll, and none while 1 MiB is in flight to
/// it; the others wait at their senders.
///
/// Polling: a thread that polls often polls, for 2 us, only the channel where the last fragment came, then all
/// channels. A thread that polls seldom, between tasks or before a sleep, polls all channels each time.
///
/// End: `close` flushes and sends the shutdown. The destructor receives until every peer has sent its close message,
/// for a bounded time, because only then MPI holds no more messages.
class mpi_endpoint final : public endpoint {
 public:
  /// A window is so many fragments that fill their slots, or more that do not: each counts as an eighth of a slot at
  /// least, for the memory that MPI uses for it.
  static constexpr std::uint32_t window_slots = 32;
  static constexpr std::uint32_t short_fragments_in_a_slot = 8;
  static constexpr std::uint32_t payloads_max = 4;
  static constexpr std::uint32_t sends_max = 512;
  static constexpr std::uint32_t fragments_pending_max = 32;  ///< of a link: fragments that MPI has not sent yet

  mpi_endpoint(rank_id own_rank, std::uint32_t size, std::unique_ptr<port> end, std::shared_ptr<shared_state> shared,
               const settings& settings);
  mpi_endpoint(const mpi_endpoint&) = delete;
  mpi_endpoint& operator=(const mpi_endpoint&) = delete;
  ~mpi_endpoint() override;

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const capabilities& declared() const noexcept override;

  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override { sleeper_.unpark(); }
  std::optional<failure> failed() override;
  bool unsent() const noexcept override;
  void close(std::chrono::nanoseconds timeout) override;

 private:
  enum class close_kind : std::uint8_t { shutdown = 1, abandoned = 2 };
  struct incoming {
    message_ptr m;
    bool complete = false;
  };
  /// One channel of one peer.
  struct link {
    message_list waiting;
    std::size_t waiting_bytes = 0;
    std::size_t window_filled = 0;        // bytes, since the last `matched` fragment
    std::uint32_t matched_pending = 0;    // `matched` fragments in flight
    std::uint32_t fragments_pending = 0;  // fragments that MPI has not sent yet
    std::uint32_t payloads_pending = 0;
    std::list<incoming> held;  // from the oldest payload in flight on
    bool closed = false;       // its close message has come
  };
  /// `left`: its close message has come on some channel. `lost`: it violates the protocol, or MPI does not reach it.
  struct peer {
    enum class state : std::uint8_t { present, left, lost };
    state now = state::present;
    std::array<link, channels_per_peer> links;
  };
  struct place {
    std::uint32_t peer;
    std::uint32_t channel_index;
  };
  struct rendezvous_request {
    place source;
    message_header header;
    incoming* destination;
  };
  /// A transfer in progress at MPI; its request id is its index in transfers_.
  struct transfer {
    enum class kind : std::uint8_t { unused, fragment, matched, payload, arriving };
    std::uint32_t request_id = 0;
    kind stage = kind::unused;
    place peer_place{};
    message_ptr m;                    // source
    incoming* destination = nullptr;  // or destination
    std::array<std::byte, sizeof(message_header)> control_bytes{};
  };

  // endpoint_send.cpp
  [[nodiscard]] bool full(const link& link, std::uint32_t channel_index) const noexcept;
  void start(place place, message_ptr m);
  void send_eager(place place, message_ptr m);
  [[nodiscard]] bool completes_window(link& link, std::size_t fragment_bytes) const noexcept;
  void send_rendezvous(place place, message_ptr m);
  [[nodiscard]] std::uint32_t next_request_id();
  transfer& begin(transfer::kind kind, place place);
  void handle_outcome(transfer& transfer, outcome outcome);
  bool complete_transfers();
  bool pump();

  // endpoint_receive.cpp
  enum class reach : std::uint8_t { all, recent };  // channels: all, or that of the last fragment
  bool progress(message_list& arrived, std::size_t messages_max, reach reach);
  bool take_next(std::uint32_t channel_index, message_list& arrived);
  void take(const arrived_fragment& fragment, message_list& arrived);
  void take_compact(const arrived_fragment& fragment, message_list& arrived);
  [[nodiscard]] link* link_of(const arrived_fragment& fragment);
  static void deliver(link& link, message_ptr m, message_list& arrived);
  void accept(const arrived_fragment& fragment, message_ptr m, message_list& arrived);
  void accept_close(const arrived_fragment& fragment, close_kind kind);
  void accept_rendezvous_request(place source, const message_header& header);
  void start_receives();
  void deliver_complete(place source, message_list& arrived);
  void lose(std::uint32_t rank, std::string reason);
  void note(failure failure);
  void break_down();

  // endpoint.cpp
  [[nodiscard]] bool flushed() const noexcept;
  [[nodiscard]] std::uint32_t transfers_under_way() const noexcept {
    return receiving_ + sending_[0] + sending_[1] + sending_[2];
  }
  [[nodiscard]] bool all_over() const noexcept;
  void send_close(close_kind kind);
  void forget_waiting(std::uint32_t rank);
  template <class Condition>
  bool receive_until(Condition is_over, std::chrono::nanoseconds timeout);
  void leave_to_mpi();
  bool sleep_a_little(std::chrono::nanoseconds most);

  rank_id rank_;
  std::unique_ptr<port> port_;
  std::shared_ptr<shared_state> shared_;
  settings settings_;
  std::vector<peer> peers_;                                 // by rank
  busy_links<place> busy_;                                  // links with waiting messages
  std::deque<transfer> transfers_;                          // by request id
  std::vector<std::uint32_t> free_;                         // unused request ids
  std::array<std::uint32_t, channels_per_peer> sending_{};  // sends in progress, by channel
  std::uint32_t receiving_ = 0;                             // payloads in flight to this rank
  std::uint32_t burst_ = 1;                                 // fragments that the next poll takes at most
  std::size_t receiving_bytes_ = 0;                         // of payloads in flight to this rank
  std::size_t begun_bytes_ = 0;                             // of payloads started in this poll
  std::deque<rendezvous_request> rendezvous_requests_;      // payloads not started yet
  message_list own_messages_;                               // submitted to the own rank
  message_list seen_;                                       // received while waiting
  std::vector<place> payloads_arrived_;                     // links where the oldest payload may have arrived
  failure_queue failures_;
  std::atomic<bool> progressed_{true};                   // progress since the last sleep; written under lock
  std::chrono::steady_clock::time_point still_since_{};  // no progress since then, for a waiting thread
  parker sleeper_;
  const bool words_;                  // the port carries words
  std::uint32_t recent_ = 0;          // under lock: channel of the last fragment
  poll_interval stall_timeout_;       // under lock: for payloads that do not move, before others start
  poll_interval idle_poll_interval_;  // under lock: when to poll idle channels beside a busy one
  std::uint32_t idle_polls_ = 0;      // under lock: polls since the last progress
  bool broken_ = false;               // MPI does not receive any more
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace nacre::transport::mpi
