// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint of a mesh of rings in shared memory.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "transport/peer_monitor.hpp"
#include "transport/shm/memory_copies.hpp"
#include "transport/shm/peer_link.hpp"
#include "transport/shm/poll_set.hpp"
#include "transport/transport.hpp"
#include "transport/wakeup_flags.hpp"

namespace nacre::transport::shm {

/// All that an endpoint is constructed from.
struct endpoint_parts {
  rank_id rank;
  std::shared_ptr<segment> own_segment;
  std::vector<std::optional<peer_parts>> peers;           ///< by rank; empty for the own one
  std::shared_ptr<launch::launcher_connection> launcher;  ///< null: no launcher
  writer_limits limits;
};

/// `poll` reads the rings of the peers that have a place in the poll set, and of those that have rung their doorbells.
/// `wait` sleeps on the futex of the own segment. The monitor of the peers is polled once in 1,024 polls and after
/// every sleep. A sleep lasts at most `sleep_max`, so the death of a peer is noticed although a dead peer wakes nobody.
class shm_endpoint final : public endpoint {
 public:
  static constexpr std::chrono::milliseconds sleep_max{100};

  explicit shm_endpoint(endpoint_parts parts);

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(numbers_.size()); }
  const capabilities& declared() const noexcept override;
  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  std::optional<failure> failed() override { return monitor_.take_failure(); }
  direct_memory* direct() noexcept override { return direct_.get(); }
  bool unsent() const noexcept override { return !backlog_.empty(); }
  void close(std::chrono::nanoseconds timeout) override;

 private:
  [[nodiscard]] peer_link& link_to(rank_id peer) const noexcept { return *links_[numbers_[peer.value()]]; }
  bool receive(std::uint32_t number, channel channel, message_list& arrived, std::size_t enough);
  bool receive_polled(message_list& arrived, std::size_t enough);
  bool answer_doorbells(message_list& arrived, std::size_t enough);
  void promote(peer_link& heard);
  bool flush_backlog();
  void note_unsent(peer_link& link);
  void sleep(std::chrono::nanoseconds timeout);
  [[nodiscard]] bool anything_ready() const noexcept;

  void poll_control();
  bool drain_the_dying(message_list& arrived, std::size_t enough);
  void on_end(peer_link& link);
  void warn_of_refusal(const peer_link& link, int error);

  rank_id rank_;
  std::shared_ptr<segment> own_segment_;
  std::vector<std::uint32_t> numbers_;             // by rank: its place among the ranks of the host
  std::vector<std::unique_ptr<peer_link>> links_;  // by number; null for the own one
  std::unique_ptr<shm_memory_copies> direct_;
  poll_set poll_set_;
  std::vector<peer_link*> backlog_;  // links with unsent messages
  std::vector<peer_link*> dying_;
  message_list own_messages_;  // submitted to the own rank
  peer_monitor monitor_;
  std::uint32_t polls_ = 0;
  bool closing_ = false;
  bool warned_ = false;  // that memory of a peer can no longer be read
  wakeup_flags flags_;
};

}  // namespace nacre::transport::shm
