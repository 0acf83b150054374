// SPDX-License-Identifier: Apache-2.0
// Balancing by sharing: a manager knows which ranks have work to spare and orders them to give it to ranks that ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Work sharing with a central manager (UTS-MPI sections 2.3.1 and 3.1). The manager's queue holds offers, not objects:
/// an object stays on its rank until another rank needs it, so it moves once.
///
/// Invariants. A rank has at most one request open. Nothing is sent while no rank has work. Unlike with stealing,
/// offers are sent even while all ranks work.
///
/// | rank | tick, needy, time to ask | tick, its offer has changed | order(rank, n) | given(n) |
/// |---|---|---|---|---|
/// | resting | request(n+1) to the manager; waiting | offer(chunks) to the manager | give | - |
/// | waiting | - | offer(chunks) to the manager; resting unless 0 | give | wait `arrival_timeout`; resting |
///
/// To give: move a chunk to that rank and send it given(n). A rank that has none left sends offer(0) and
/// returned(rank, n) to the manager.
///
/// | manager | request(n) of a rank | offer(chunks) | returned(rank, n) |
/// |---|---|---|---|
/// | some offers | order to the next rank with an offer | note it | put the request at the front of the line; match |
/// | none | append the request to the line | note it; match | put the request at the front of the line |
///
/// To match: send an order to the ranks with offers in turn, one for each request in the line.
///
/// A rank offers one chunk for every `chunk` objects that it can spare. While it offers none, its wanted() is true, so
/// that work that can split does so ahead of need. It sends an offer when the number of chunks becomes or ceases to be
/// 0, or has halved or doubled, but not before `interval` has passed since the last offer.
class share_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t manager = 0;
    std::uint32_t chunk = 1;
    double interval = 100e-6;
    double arrival_timeout = 200e-6;
  };

  explicit share_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return offered_ == 0; }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  struct message;
  struct request {
    rank_id rank;
    std::uint32_t number;
  };

  [[nodiscard]] rank_id manager(const balancer_host& host) const noexcept;
  void send(balancer_host& host, rank_id target, const message& m);
  void receive(balancer_host& host, rank_id source, const message& m);
  void receive_as_manager(balancer_host& host, rank_id source, const message& m);
  void offer(balancer_host& host);
  void apply_order(balancer_host& host, const message& order);
  void withdraw(rank_id requester);
  void match(balancer_host& host);

  const options parameters_;
  surplus surplus_;

  // Every rank's half.
  bool waiting_ = false;
  std::uint32_t number_ = 0;  // of the latest request
  double ask_at_ = 0;
  std::uint32_t offered_ = 0;  // chunks that the manager knows of
  double offer_at_ = 0;

  // The manager's half.
  std::deque<request> line_;
  std::vector<std::uint32_t> offers_;  // of each rank, in chunks
  std::uint32_t cursor_ = 0;           // the rank that got the last order
};

[[nodiscard]] std::unique_ptr<balancer> make_share_balancer(const config& configuration);

}  // namespace nacre::balance
