// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a full mesh of sockets, one for each channel and peer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/poll_interval.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/launch/peer_connections.hpp"
#include "join/net/listener.hpp"
#include "transport/peer_monitor.hpp"
#include "transport/tcp/chunk_pool.hpp"
#include "transport/tcp/lone_watch.hpp"
#include "transport/tcp/peer_link.hpp"
#include "transport/tcp/send_backlog.hpp"
#include "transport/transport.hpp"
#include "transport/wakeup_event.hpp"
#include "transport/wakeup_flags.hpp"

namespace nacre::transport::tcp {

/// The inputs of an endpoint: the result of the bootstrap.
struct endpoint_parts {
  rank_id rank;
  std::vector<launch::candidates_of_rank>
      candidates;                 ///< by rank; empty for the own one, and for ranks on other transports
  std::uint32_t connections = 1;  ///< with each other rank: 1 to channel_count
  std::unique_ptr<net::listener> listener;
  std::shared_ptr<launch::launcher_connection> launcher;  ///< null: no launcher
  std::size_t output_bytes_max = 0;                       ///< for each connection
};

/// Messages over authenticated streams to each peer: one for each channel, or fewer; then the last one serves all
/// channels that have none of their own.
///
/// `submit` writes at once as much as the socket takes. The rest waits in the stream's send queue, up to its bound, and
/// a poll writes it when epoll has told that the socket takes more. `poll` reads the warm stream: the one that brought
/// bytes last. When 5 us have passed, or the warm stream has more to read, it also asks the kernel for other streams
/// that are ready, and reads those of channel system first. Once in 1,024 polls and after every wait it polls the
/// listener and the monitor of the peers, too. `wait` sleeps on all of these at once. When one stream of a peer fails,
/// the peer has failed.
class tcp_endpoint final : public endpoint {
 public:
  explicit tcp_endpoint(endpoint_parts parts);
  tcp_endpoint(const tcp_endpoint&) = delete;
  tcp_endpoint& operator=(const tcp_endpoint&) = delete;
  ~tcp_endpoint() override = default;

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return size_; }
  const capabilities& declared() const noexcept override { return declared_; }

  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  std::optional<failure> failed() override { return monitor_.take_failure(); }
  bool unsent() const noexcept override { return !backlog_.empty(); }
  bool under_way() override;
  void close(std::chrono::nanoseconds timeout) override;

 private:
  void enrol(rank_id peer, launch::candidates_of_rank& candidates);
  [[nodiscard]] std::size_t place_of(const peer_link& link) const noexcept;
  bool receive(peer_link& link, message_list& arrived, std::size_t enough);
  bool poll_warm(message_list& arrived, std::size_t enough);
  void warm_to(peer_link* link);
  [[nodiscard]] bool asks_kernel(bool heard_warm) noexcept;
  bool poll_kernel(message_list& arrived, std::size_t messages_max);
  bool note_writable(std::uint64_t place) noexcept;
  bool on_event(std::uint64_t place, std::uint32_t events, message_list& arrived, std::size_t enough);
  bool flush_backlog();
  void flush_whole_backlog();
  void note_unsent(peer_link& link);
  void watch(const peer_link& link, int operation);
  void sleep(std::chrono::nanoseconds timeout);
  void on_state_change(peer_link& link);
  void drop(peer_link& link);

  void poll_control();
  void poll_listener();

  void send_shutdown();
  void discard_arrivals();
  [[nodiscard]] bool acknowledged() const noexcept;

  rank_id rank_;
  std::uint32_t size_;
  std::uint32_t connections_;  // with each peer
  capabilities declared_;
  chunk_pool chunks_;                              // of links_
  std::vector<std::unique_ptr<peer_link>> links_;  // by rank, then by number; null: the own rank, or the stream is over
  std::size_t links_alive_ = 0;
  peer_link* warm_ = nullptr;  // the one that brought bytes last
  std::uint32_t warm_hits_ = 0;
  std::uint32_t warm_misses_ = 0;
  std::uint32_t rivals_ = 0;   // reads of others since the last read of the warm one
  std::uint32_t round_ = 0;    // where poll_kernel begins among the readable streams
  peer_link* lone_ = nullptr;  // the link of the socket in lone_watch_: none, or the warm one
  lone_watch lone_watch_;
  send_backlog<peer_link> backlog_;
  message_list own_messages_;  // submitted to the own rank, or received by the bootstrap
  std::unique_ptr<net::listener> listener_;
  peer_monitor monitor_;
  std::size_t output_bytes_max_;
  poll_interval others_;  // when to ask the kernel for other streams than the warm one
  std::uint32_t polls_ = 0;
  bool closing_ = false;
  net::unique_fd events_;  // epoll: links, listener, monitor_, wakeup_event_
  wakeup_event wakeup_event_;
  wakeup_flags flags_;
};

}  // namespace nacre::transport::tcp
