// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a job that communicates by UCX.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cache_line.hpp"
#include "base/poll_interval.hpp"
#include "base/spinlock.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/net/socket.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/busy_links.hpp"
#include "transport/kept_exception.hpp"
#include "transport/peer_monitor.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/memory_copies.hpp"
#include "transport/ucx/module.hpp"
#include "transport/wakeup_event.hpp"
#include "transport/wakeup_flags.hpp"

namespace nacre::transport::ucx {

/// A peer that the handshake has authenticated.
struct peer_parts {
  net::unique_fd liveness_socket;  ///< liveness socket, authenticated; from now on it carries only the shutdown
  std::uint64_t key_here = 0;      ///< the stamps of this peer must hold it
  std::uint64_t key_there = 0;     ///< the stamps for this peer must hold it
};

/// The parts that an endpoint is built from.
struct endpoint_parts {
  rank_id rank;
  std::unique_ptr<port> end;                              ///< connected to each of the peers on every channel
  std::vector<std::optional<peer_parts>> peers;           ///< by rank; not the own rank, nor peers of other endpoints
  std::shared_ptr<launch::launcher_connection> launcher;  ///< null: no launcher
  std::size_t output_bytes_max = 0;                       ///< for each peer and channel
  std::chrono::nanoseconds idle_poll_interval = std::chrono::microseconds(2);  ///< poll interval of idle channels
};

/// Messages travel as frames: header and payload as they lie in memory, behind a stamp. This end copies short frames
/// into a block; UCX writes longer ones into the block in which they are delivered.
///
/// Order: frames of one peer and channel are numbered. UCX keeps the order of short frames, but a short one may
/// overtake a long one. This end holds a frame that comes early, or that is announced and has not arrived, until all
/// before it are delivered.
///
/// Bounds, for each peer and channel: from the oldest frame in flight on, at most output_bytes_max bytes and frames_max
/// frames are sent; that bounds the frames which the receiver holds, too. As many bytes wait here; beyond that submit
/// leaves the rest with its caller. One message may exceed either bound.
///
/// | peer | event | then |
/// |---|---|---|
/// | present | its shutdown on its liveness socket | left: messages to it are dropped, messages from it still arrive |
/// | present | its liveness socket ends, or it violates the protocol | lost, and a failure |
/// | present | UCX does not reach it | suspect: messages to it are dropped |
/// | suspect | its shutdown | left |
/// | suspect | its liveness socket ends, or suspicion_max is over | lost, and a failure |
///
/// Copies between the memories of two ranks: see memory_copies.hpp.
class ucx_endpoint final : public endpoint, private port_callbacks, private direct_memory {
 public:
  static constexpr std::uint32_t frames_max = 256;
  static constexpr std::chrono::milliseconds sleep_max{100};
  static constexpr std::chrono::seconds suspicion_max{2};

  explicit ucx_endpoint(endpoint_parts parts);
  ucx_endpoint(const ucx_endpoint&) = delete;
  ucx_endpoint& operator=(const ucx_endpoint&) = delete;
  ~ucx_endpoint() override;

  /// Waits until this rank has heard every peer on every channel and every peer has heard this rank. To be called
  /// first. Throws setup_error or job_aborted.
  void wait_for_peers(net::time_point deadline);

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const capabilities& declared() const noexcept override;
  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  std::optional<failure> failed() override;
  direct_memory* direct() noexcept override { return this; }
  bool unsent() const noexcept override { return !busy_.empty(); }
  bool under_way() override {
    const std::scoped_lock lock(lock_);
    return !flushed();
  }
  void close(std::chrono::nanoseconds timeout) override;

 private:
  struct place_of {
    std::uint32_t peer;
    std::uint32_t channel_index;
  };
  /// A frame that came too early, or that UCX is still writing into its block.
  struct incoming {
    message_ptr m;
    bool complete = false;
  };
  /// A frame that was sent behind one that is still in flight.
  struct sent_frame {
    std::uint64_t behind_bytes = 0;  // sent on this link before
    bool complete = false;
  };
  /// One channel of one peer.
  struct link {
    std::uint32_t sent = 0;             // frames; the number of the next one
    std::uint64_t sent_bytes = 0;       // in all
    bool flushed = false;               // nothing was sent since the last flush began
    std::deque<sent_frame> under_way;   // from the oldest frame in flight on
    std::uint64_t first_under_way = 0;  // index of its first frame since the link began
    message_list waiting;
    std::size_t waiting_bytes = 0;
    std::uint64_t delivered = 0;  // frames; the number of the next one
    std::map<std::uint64_t, incoming> held;
    bool heard = false;  // its first frame, an empty sign of life, has come
  };
  struct peer {
    enum class state : std::uint8_t { present, suspect, left, lost };
    state now = state::lost;  // the own rank is no peer
    bool ready = false;       // it has heard all others
    peer_parts parts;
    std::string suspicion;
    net::time_point suspect_since;
    std::array<link, channels_per_peer> links;
  };
  /// A request in progress at UCX; its request id is its index in transfers_.
  struct transfer {
    enum class kind : std::uint8_t {
      unused,
      frame,
      sign,
      flush,
      arriving,
      control,
      region_leaves,
      own_leaves,
      landing
    };
    [[nodiscard]] bool comes_in() const noexcept { return stage == kind::arriving || stage == kind::landing; }
    std::uint32_t request_id = 0;
    kind stage = kind::unused;
    place_of peer_place{};
    std::uint64_t number = 0;             // in under_way, or of an arriving frame; or region id
    std::size_t bytes = 0;                // of an arriving frame
    frame_kind as = frame_kind::message;  // kind of the bytes that land
    stamp frame_stamp;
    message_ptr m;
  };

  /// Long messages of a channel.
  struct fetch_queue {
    struct request {
      std::uint32_t request_id;
      rendezvous_request rendezvous;
    };
    std::deque<request> waiting;      // announced, not started
    std::size_t bytes_under_way = 0;  // started
  };

  // endpoint_send.cpp
  [[nodiscard]] bool full(const link& link) const noexcept;
  void start(place_of place, message_ptr m);
  [[nodiscard]] bool start_compact(place_of place, const peer& target, link& via, message& m);
  [[nodiscard]] transfer& begin(transfer::kind kind, place_of place);
  void handle_outcome(transfer& transfer, outcome outcome);
  void release_transfer(transfer& transfer);
  void note_complete(link& via, std::uint64_t number);
  bool pump();
  void forget_waiting(peer& peer);

  // endpoint_receive.cpp: the port's events
  void arrived(std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
               std::span<const std::byte> frame) noexcept override;
  place place_for(std::uint32_t channel_index, frame_kind kind, const stamp& stamp, std::size_t byte_count,
                  rendezvous_request as) noexcept override;
  void ended(std::uint64_t request_id, bool well) noexcept override;
  void broken(std::uint32_t peer, std::uint32_t channel_index, const char* reason) noexcept override;
  [[nodiscard]] link* link_of(std::uint32_t channel_index, const stamp& stamp) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> number_of(const link& link, const stamp& stamp) const noexcept;
  [[nodiscard]] std::string_view fault_of(const message_header& header, rank_id rank, std::size_t frame_bytes,
                                          std::uint32_t channel_index) const;
  void receive_frame(link& link, std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                     std::span<const std::byte> frame);
  void take(link& link, const stamp& stamp, message_ptr m);
  void take_out_of_order(link& link, const stamp& stamp, message_ptr m);
  void deliver_held(link& link);
  [[nodiscard]] bool may_fetch(std::uint32_t channel_index) const noexcept;
  void start_fetches(std::uint32_t channel_index);
  void refuse_requests();
  void take_fetched(transfer& transfer, bool well);

  // endpoint_direct.cpp
  bool reaches(rank_id far) const noexcept override { return far != rank_; }
  std::optional<registered_region> register_region(rank_id target, std::span<std::byte> bytes, copy_way way) override;
  void deregister(rank_id source, const registered_region& region) noexcept override;
  copy_outcome copy(const direct_copy& direct_copy) override;
  void stop(std::uint64_t tag) noexcept override;
  std::optional<ended_copy> take_ended() override;
  [[nodiscard]] place place_for_bytes(frame_kind kind, copy_id id, std::size_t byte_count);
  void end_landing(const transfer& transfer, bool well);
  void end_leaving(const transfer& transfer, bool well);
  void send_control_frames();
  void send_bytes(transfer::kind as, frame_kind kind, copy_id id, std::span<const std::byte> bytes);
  template <class Condition>
  bool help_until(std::uint32_t far, Condition is_over);

  // endpoint.cpp
  bool progress(message_list& messages, std::size_t enough);
  bool poll_channel(std::uint32_t channel_index, message_list& messages, std::size_t enough);
  void sleep(std::chrono::nanoseconds timeout);

  // endpoint_control.cpp
  void poll_control();
  void read_liveness_socket(std::uint32_t rank);
  void suspect(std::uint32_t rank, std::string_view reason);
  void check_suspects();
  void lose(std::uint32_t rank, std::string_view reason);
  void report_lost_peers();
  template <class Condition>
  bool progress_until(Condition is_over, net::time_point deadline, bool joining);
  void flush_links();
  void leave_to_peers();
  [[nodiscard]] bool flushed() const noexcept;

  rank_id rank_;
  std::size_t output_bytes_max_;
  std::unique_ptr<port> port_;
  std::vector<peer> peers_;          // by rank
  busy_links<place_of> busy_;        // links with waiting messages
  std::deque<transfer> transfers_;   // by request id
  std::vector<std::uint32_t> free_;  // unused request ids
  std::uint32_t sending_ = 0;        // requests in progress that send
  std::uint32_t unheard_ = 0;        // links that have had no sign of life yet
  std::uint32_t unready_ = 0;        // peers that have not reported that they heard all others
  std::uint32_t suspects_ = 0;
  std::array<fetch_queue, channels_per_peer> fetch_queues_{};
  std::uint32_t requests_waiting_ = 0;                              // frames that wait in fetch_queues_
  std::array<std::uint32_t, channels_per_peer> busy_polls_left_{};  // polls for which a channel still counts as busy
  poll_interval idle_poll_interval_;                                // when to poll the idle ones
  std::uint32_t polls_ = 0;
  bool progressed_ = false;  // a poll has moved something since the last sleep
  std::chrono::steady_clock::time_point quiet_since_{};
  message_list* destination_ = nullptr;  // destination of messages; set while the port may call
  kept_exception exception_;             // of an event
  message_list seen_;                    // received while waiting
  message_list own_messages_;            // submitted to the own rank
  std::deque<failure> lost_;             // failures that the launcher has not been told yet
  memory_copies copies_;
  peer_monitor monitor_;
  bool closing_ = false;
  bool closed_ = false;
  net::unique_fd events_;  // epoll: monitor_, channels, wakeup_event_
  wakeup_event wakeup_event_;
  alignas(cache_line_bytes) spinlock lock_;  // held during every call of the port
  wakeup_flags flags_;
};

}  // namespace nacre::transport::ucx
