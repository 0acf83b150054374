// SPDX-License-Identifier: Apache-2.0
// Balancing by gossip: news of underloaded ranks spreads from rank to rank, and ranks with surplus send objects there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Distributed balancing by an epidemic, as in Grapevine (Menon and Kale, SC 2013) with the relaxed criterion of
/// TemperedLB (Lifflander et al., Cluster 2021), but without global phases: ranks gossip when they need work.
///
/// Invariants. One version of a rank's load brings it at most one transfer from each other rank. A move makes the sum
/// of the squares of the known loads smaller. A rank sends to `fanout` others at most once in `interval`, and announces
/// its own load ever more rarely while it gets nothing.
///
/// | event | action of the rank |
/// |---|---|
/// | tick, needy, time to speak | its load, under a new version, becomes news that is passed on `rounds` times |
/// | tick, has news, `interval` after the last message | sends the news to `fanout` random ranks |
/// | message | notes each rank with a newer version than the known one; queues that news if it has rounds left |
/// | tick, knows needy ranks, has surplus | transfers |
/// | tick | forgets news older than two of the longest intervals |
///
/// A rank is needy when more of its workers are idle than objects wait for them.
///
/// To transfer: for each object of the surplus, heaviest first, draw a receiver; a lower known load makes a rank more
/// likely. The object goes there if the receiver's new load stays below the sender's old load (relaxed criterion). With
/// `communication`, the object is instead the one among those about as heavy as the heaviest left that talks most to
/// objects on the receiver. A receiver gets no further transfer until newer news of it comes.
class gossip_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t fanout = 2;
    std::uint32_t rounds = 4;
    backoff gossip_interval{100e-6, 10e-3};
    std::uint32_t known_max = 64;
    std::uint32_t objects_max = 16;
    bool communication = false;
  };

  explicit gossip_balancer(const options& parameters)
      : parameters_(parameters), gossip_interval_(parameters.gossip_interval) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override;
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool observes_communication() const override { return parameters_.communication; }

 private:
  struct knowledge {
    std::uint32_t version = 0;
    double load = 0;
    double heard_at = 0;
    bool open = false;  // this rank has sent it nothing since this version
  };
  struct news {
    rank_id rank;
    std::uint32_t version = 0;
    double load = 0;
    std::uint32_t rounds = 0;  // times that it is still to be passed on

    template <class Archive>
    void serialize(Archive& ar) {
      ar(rank, version, load, rounds);
    }
  };

  [[nodiscard]] bool knows_needy() const;
  void speak(balancer_host& host);
  void hear(const news& item, double now);
  void pass_on(balancer_host& host);
  void forget(double now);
  void transfer(balancer_host& host);
  [[nodiscard]] knowledge* draw(balancer_host& host, double own_load, rank_id& drawn);

  const options parameters_;
  backoff gossip_interval_;
  surplus surplus_;
  bool needy_ = false;
  std::uint32_t version_ = 0;
  double speak_at_ = 0;
  double pass_at_ = 0;
  std::vector<news> fresh_;
  std::map<rank_id, knowledge> known_;
};

[[nodiscard]] std::unique_ptr<balancer> make_gossip_balancer(const config& configuration);

}  // namespace nacre::balance
