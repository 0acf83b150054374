// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a job with messages that travel in datagrams.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cache_line.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/net/socket.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/peer_monitor.hpp"
#include "transport/transport.hpp"
#include "transport/udp/connection.hpp"
#include "transport/udp/datagram_socket.hpp"
#include "transport/udp/path_watch.hpp"
#include "transport/udp/unreliable_link.hpp"
#include "transport/wakeup_event.hpp"
#include "transport/wakeup_flags.hpp"

namespace nacre::transport::udp {

/// A peer that the handshake has authenticated, and that knows the own socket.
struct peer_parts {
  net::unique_fd liveness_socket;  ///< carries signs of a byte, see endpoint_control.cpp
  datagram_socket socket;          ///< connected
  connection link;
  unreliable_link apart;  ///< uses the same socket
};

/// The parts that an endpoint is built from.
struct endpoint_parts {
  rank_id rank;
  std::vector<std::optional<peer_parts>> peers;           ///< by rank; not the own one
  std::shared_ptr<launch::launcher_connection> launcher;  ///< null: no launcher
  std::size_t output_bytes_max = 0;                       ///< for each peer and channel
  std::chrono::nanoseconds silence_max{};                 ///< see path_watch
};

/// Reliable messages over datagrams: a connection and a socket for each peer.
///
/// `submit` lets datagrams leave at once, as far as the windows of the connection permit. `poll` takes what has
/// arrived, lets more leave, and sends again what is lost; messages of channel system come first. The liveness sockets
/// tell the ends of peers; silence tells nothing, unless the peer answers there, see path_watch.
///
/// | peer | event | then |
/// |---|---|---|
/// | present | its shutdown on its liveness socket | left: messages to it are dropped |
/// | present | its liveness socket ends, it violates the protocol, or no datagram passes | lost, and a failure |
/// | left | its liveness socket ends | left |
///
/// Unreliable datagrams leave at once, by the same sockets. Those that arrive stay in the memory that the kernel has
/// written until the next poll. A poll that has no such memory left leaves the rest in the sockets.
///
/// Invariant: no sleeper misses the time at which a datagram is to be sent again. `published_deadline_` is at most the
/// earliest deadline of all connections; `wait` sets `asleep_` before it loads that, and a thread that makes it earlier
/// loads `asleep_` after it has stored it, all seq_cst, so that one of the two sees the other.
class udp_endpoint final : public endpoint, private datagram_service {
 public:
  explicit udp_endpoint(endpoint_parts parts);
  udp_endpoint(const udp_endpoint&) = delete;
  udp_endpoint& operator=(const udp_endpoint&) = delete;
  ~udp_endpoint() override = default;

  /// Waits until datagrams of full length have come through to every peer, and every peer says the same. To be called
  /// first. Throws setup_error or job_aborted.
  void wait_for_peers(net::time_point deadline);

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  std::optional<failure> failed() override { return monitor_.take_failure(); }
  datagram_service* datagrams() noexcept override { return this; }
  bool unsent() const noexcept override;
  bool under_way() override;
  void close(std::chrono::nanoseconds timeout) override;

 private:
  struct peer {
    enum class state : std::uint8_t { present, left, lost };
    peer(peer_parts peer_parts, std::uint32_t number, std::chrono::nanoseconds silence_max)
        : parts(std::move(peer_parts)), rank(number), path(silence_max) {}
    peer_parts parts;
    const std::uint32_t rank;
    path_watch path;
    state now = state::present;
    bool ready = false;    // it has heard all others
    bool blocked = false;  // its socket takes no more
  };

  // endpoint.cpp
  [[nodiscard]] std::size_t ready_messages() const noexcept;
  bool receive(std::uint32_t rank, time_point now, std::size_t messages_max);
  bool receive_from_ready(time_point now, std::size_t messages_max);
  bool let_leave(peer& peer, time_point now);
  bool serve_deadlines(time_point now);
  void publish(time_point deadline) noexcept;
  void sleep(std::chrono::nanoseconds timeout);

  // endpoint_datagrams.cpp
  bool sends_to(rank_id target) const noexcept override;
  std::size_t bytes_max() const noexcept override { return unreliable_bytes_max_; }
  bool send(rank_id target, std::uint32_t label, byte_pieces bytes) override;
  std::optional<received_datagram> take() override;
  [[nodiscard]] bool keep(rank_id source, std::span<const std::byte> bytes);
  void drop_kept() noexcept;
  [[nodiscard]] bool has_room() const noexcept { return batches_used_ < batches_max; }
  [[nodiscard]] incoming_batch& batch();

  // endpoint_control.cpp
  void poll_control();
  void read_liveness_socket(std::uint32_t rank);
  [[nodiscard]] bool take_sign(std::uint32_t rank, std::uint8_t sign);
  void watch_path(peer& peer, time_point now);
  void lose(std::uint32_t rank, std::string_view reason);
  void on_left(peer& peer);
  [[nodiscard]] std::optional<std::uint32_t> find_peer(bool (*lacks)(const peer&)) const;
  void join_until(bool (*lacks)(const peer&), net::time_point deadline, std::string_view name);
  static void send_sign(const peer& peer, std::uint8_t sign);
  void send_sign_to_all(std::uint8_t sign);
  void leave_streams(net::time_point deadline);

  rank_id rank_;
  std::vector<std::unique_ptr<peer>> peers_;  // by rank; null: the own one
  peer* lone_ = nullptr;                      // the only peer, whose socket is read without asking which is ready
  capabilities declared_;
  std::size_t output_bytes_max_;
  messages_by_channel ready_;  // complete messages of this poll
  message_list own_messages_;  // submitted to the own rank, or received while joining
  outgoing_batch outgoing_;
  static constexpr std::size_t batches_max = 4;
  std::vector<std::unique_ptr<incoming_batch>> incoming_;  // at most batches_max
  std::size_t batches_used_ = 0;                           // hold datagrams that were kept
  std::vector<received_datagram> kept_;                    // unreliable ones of this poll
  std::size_t kept_taken_ = 0;                             // of these
  std::size_t unreliable_bytes_max_ = datagram_bytes_min - unreliable_head_bytes;
  std::vector<time_point> due_;  // by rank: the deadline of its connection, or an earlier time; now, if it is blocked
  time_point next_deadline_ = never;  // the earliest one of all connections, or an earlier time
  std::uint32_t polls_ = 0;
  std::uint32_t first_ready_ = 0;  // where a poll begins among the readable sockets
  bool closing_ = false;
  bool signed_off_ = false;  // the shutdown was the last sign
  peer_monitor monitor_;
  net::unique_fd sockets_;  // epoll: the sockets of all peers, tagged by rank
  net::unique_fd others_;   // epoll: monitor_, wakeup_event_
  wakeup_event wakeup_event_;
  // Shared by wait and the thread that polls.
  alignas(cache_line_bytes) std::atomic<time_point::rep> published_deadline_{never.time_since_epoch().count()};
  std::atomic<bool> asleep_{false};
  wakeup_flags flags_;
};

}  // namespace nacre::transport::udp
