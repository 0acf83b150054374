// SPDX-License-Identifier: Apache-2.0
// Balancing by sharing: a manager knows who has work to spare and sends it to whoever asks.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Work sharing with a central manager (UTS-MPI sections 2.3.1 and 3.1). Its queue holds what ranks offer, not the
/// objects: these stay where they are until somebody needs them, so each is moved once.
///
/// | rank | tick, needy, time to ask | tick, its offer has changed | order(to, n) | given(n) |
/// |---|---|---|---|---|
/// | resting | request(n+1) to the manager; waiting | offer(chunks) to the manager | a chunk to that rank and given(n);
/// else offer(0) and returned(to, n) to the manager | - | | waiting | - | the same | the same | rest until the objects
/// must be here; resting |
///
/// | manager | request(n) of a rank | offer(chunks) | returned(to, n) |
/// |---|---|---|---|
/// | some offers | order to the next rank with one | note | line up in front |
/// | none | line up | note; orders to those with offers, one for each in the line | the same |
///
/// A rank offers a chunk for every `chunk` objects that it can spare, and is wanted while it offers none: work that can
/// split does so ahead of need. An offer is told when there begins or ceases to be one, or it has halved or doubled,
/// and not before `interval` has passed since the last.
///
/// Invariants. One request of a rank is open at a time. Nothing is sent while no rank has work. Unlike with stealing,
/// offers are told though all ranks work.
class share_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t manager = 0;
    std::uint32_t chunk = 1;
    double interval = 100e-6;
    double settle = 200e-6;
  };

  explicit share_balancer(const options& parameters) : parameters_(parameters) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return offered_ == 0; }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  struct message;
  struct request {
    rank_id rank;
    std::uint32_t number;
  };

  [[nodiscard]] rank_id manager(const balancer_host& host) const noexcept;
  void send(balancer_host& host, rank_id to, const message& m);
  void receive(balancer_host& host, rank_id from, const message& m);
  void receive_as_manager(balancer_host& host, rank_id from, const message& m);
  void offer(balancer_host& host);
  void apply(balancer_host& host, const message& order);
  void withdraw(rank_id initiator);
  void match(balancer_host& host);

  const options parameters_;
  surplus own_;

  // Every rank's half.
  bool waiting_ = false;
  std::uint32_t number_ = 0;  // of the latest request
  double ask_at_ = 0;
  std::uint32_t offered_ = 0;  // chunks, as the manager knows
  double offer_at_ = 0;

  // The manager's half.
  std::deque<request> line_;
  std::vector<std::uint32_t> offers_;  // of each rank, in chunks
  std::uint32_t cursor_ = 0;           // who was ordered last
};

[[nodiscard]] std::unique_ptr<balancer> make_share_balancer(const config& configuration);

}  // namespace nacre::balance
