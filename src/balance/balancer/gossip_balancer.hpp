// SPDX-License-Identifier: Apache-2.0
// Balancing by gossip: news of underloaded ranks spreads like a disease, and who has work to spare sends some there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// Distributed balancing by an epidemic, as in Grapevine (Menon and Kale, SC 2013) with the relaxed criterion of
/// TemperedLB (Lifflander et al., Cluster 2021), but without global phases: ranks gossip when they need work.
///
/// | event | what the rank does |
/// |---|---|
/// | tick, needy, time to speak | its load, under a new version, becomes news that is passed on `rounds` times |
/// | tick, has news, `interval` after the last message | sends the news to `fanout` random ranks |
/// | message | remembers each rank whose version is newer than what it knew; that is news here, too, if it is to be
/// passed on | | tick, knows needy ranks, has surplus | transfers | | tick | forgets what is older than two of the
/// longest intervals |
///
/// Needy: more workers are idle than objects wait for them. To transfer: for each object of the surplus, heaviest
/// first, draw a rank, the likelier the less it is known to have; the object goes there if that leaves it with less
/// than the own rank had (relaxed criterion); by communication, of objects about as heavy as the heaviest left the one
/// that best suits the rank. Who got something is forgotten until there is newer news of it.
///
/// Invariants. A version of a rank's load brings it at most one transfer from each other rank. A move makes the sum of
/// the squares of the loads smaller, as far as they are known. A rank sends to `fanout` others at most once in
/// `interval`, and speaks of itself ever more rarely while it gets nothing.
class gossip_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    std::uint32_t fanout = 2;
    std::uint32_t rounds = 4;
    backoff look_interval{100e-6, 10e-3};
    std::uint32_t known_max = 64;
    std::uint32_t objects_max = 16;
    bool communication = false;
  };

  explicit gossip_balancer(const options& parameters)
      : parameters_(parameters), look_interval_(parameters.look_interval) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id from, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override;
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool observes_communication() const override { return parameters_.communication; }

 private:
  struct knowledge {
    std::uint32_t version = 0;
    double load = 0;
    double heard_at = 0;
    bool open = false;  // it has got nothing from here since
  };
  struct news {
    rank_id rank;
    std::uint32_t version = 0;
    double load = 0;
    std::uint32_t rounds = 0;  // how often it is to be passed on yet

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
  backoff look_interval_;
  surplus own_;
  bool needy_ = false;
  std::uint32_t version_ = 0;
  double speak_at_ = 0;
  double pass_at_ = 0;
  std::vector<news> fresh_;
  std::map<rank_id, knowledge> known_;
};

[[nodiscard]] std::unique_ptr<balancer> make_gossip_balancer(const config& configuration);

}  // namespace nacre::balance
