// SPDX-License-Identifier: Apache-2.0
// For tests: ranks with workers and objects, a network with delays, and one balancer each, stepped in virtual time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <nacre/balancer.hpp>
#include <nacre/rng.hpp>

#include "balance/balancer/balancer_test_host.hpp"

namespace nacre::balance {

/// The parameters of a test cluster. Times in seconds.
struct cluster_options {
  std::uint64_t seed = 1;
  std::uint32_t ranks = 2;
  std::uint32_t workers = 1;
  double step = 10e-6;
  double tick = 100e-6;
  double latency_max = 50e-6;
  double object_latency_max = 0;  ///< of objects, if above latency_max: they may be large
  bool frozen = false;            ///< objects declare loads, but no worker runs them and every worker is idle
  bool forge = false;             ///< random bytes arrive from random ranks all the time
  std::function<std::unique_ptr<balancer>()> make;
};

/// Objects are pieces of work of a known length. A worker runs an object to its end; one that can split does so, down
/// to `grain`, when the balancer of its rank is wanted.
class cluster {
 public:
  explicit cluster(const cluster_options& options) : options_(options), random_(options.seed) {
    for (std::uint32_t r = 0; r < options.ranks; ++r) sites_.emplace_back(*this, rank_id{r});
  }

  void add(std::uint32_t rank, double work, double grain = 1e9) {
    sites_[rank].objects.push_back({object_id(rank_id{rank}, ++last_index_), work, grain});
  }

  /// Runs for so long, or until no work is left anywhere.
  void run(double seconds) {
    for (const double end = now_ + seconds; now_ < end && work_left();) step();
  }

  [[nodiscard]] bool work_left() const {
    return options_.frozen || !flying_objects_.empty() ||
           std::any_of(sites_.begin(), sites_.end(), [](const site& s) { return !s.objects.empty(); });
  }
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] std::vector<double> loads(std::uint32_t rank) const {
    std::vector<double> result;
    for (const piece& each : sites_[rank].objects) result.push_back(each.work);
    return result;
  }
  [[nodiscard]] balancer& policy(std::uint32_t rank) { return *sites_[rank].policy; }
  [[nodiscard]] balancer_host& host(std::uint32_t rank) { return sites_[rank]; }

  std::uint64_t messages = 0;
  std::uint64_t migrations = 0;
  double work_done = 0;  ///< seconds of all workers
  double last_migration = 0;
  bool moved_a_running_object = false;
  std::uint32_t moves_of_one_object_max = 0;

 private:
  struct piece {
    object_id id;
    double work;
    double grain;
    bool running = false;
    std::uint32_t moves = 0;  // since it ran
  };

  struct site final : balancer_host {
    site(cluster& owner, rank_id rank_of)
        : all(owner),
          self(rank_of),
          policy(owner.options_.make()),
          stream(nacre::rng(owner.options_.seed).fork(rank_of.value() + 1)) {}

    [[nodiscard]] rank_id rank() const noexcept override { return self; }
    [[nodiscard]] std::uint32_t size() const noexcept override { return all.options_.ranks; }
    [[nodiscard]] std::span<const object_load> local_loads() override {
      listed.clear();
      for (const piece& each : objects) {
        const bool waits = !each.running && !all.options_.frozen;
        listed.push_back({each.id, each.work, waits ? 1u : 0u, 0, each.running});
      }
      return listed;
    }
    [[nodiscard]] rank_load summary() override {
      return {.waiting = waiting_of(local_loads()), .running = all.options_.workers - idle_workers()};
    }
    [[nodiscard]] std::span<const object_load> candidates(std::size_t most, candidate_kind kind) override {
      matches = candidates_of(local_loads(), most, kind);
      return matches;
    }
    [[nodiscard]] std::optional<object_load> load_of(object_id object) override {
      return balance::load_of(local_loads(), object);
    }
    [[nodiscard]] double total_load() override {
      double sum = 0;
      for (const piece& each : objects) sum += each.work;
      return sum;
    }
    [[nodiscard]] std::uint32_t workers() const override { return all.options_.workers; }
    [[nodiscard]] std::uint32_t idle_workers() const override {
      const auto busy = std::count_if(objects.begin(), objects.end(), [](const piece& each) { return each.running; });
      return all.options_.workers - static_cast<std::uint32_t>(busy);
    }
    [[nodiscard]] std::uint64_t arrivals() const override { return arrived; }
    void send(rank_id target, std::span<const std::byte> bytes) override { all.carry(*this, target, bytes); }
    void migrate(object_id object, rank_id target) override { all.move(*this, object, target); }
    [[nodiscard]] nacre::rng& rng() override { return stream; }
    [[nodiscard]] double now() const override { return all.now_; }

    cluster& all;
    rank_id self;
    std::unique_ptr<balancer> policy;
    nacre::rng stream;
    std::deque<piece> objects;  // in order of arrival
    std::vector<object_load> listed, matches;
    std::map<rank_id, double> last_arrival;
    std::uint64_t arrived = 0;
    double tick_at = 0;
  };
  struct letter {
    rank_id source;
    rank_id target;
    std::vector<std::byte> bytes;
  };

  void carry(site& site, rank_id target, std::span<const std::byte> bytes) {
    ++messages;
    double& last = site.last_arrival[target];
    last = std::max(last, now_ + latency());
    letters_.emplace(last, letter{site.self, target, {bytes.begin(), bytes.end()}});
  }

  void move(site& site, object_id object, rank_id target) {
    const auto match =
        std::find_if(site.objects.begin(), site.objects.end(), [&](const piece& each) { return each.id == object; });
    if (match == site.objects.end()) return;
    moved_a_running_object |= match->running;
    ++migrations;
    last_migration = now_;
    moves_of_one_object_max = std::max(moves_of_one_object_max, ++match->moves);
    const double stretch = std::max(1.0, options_.object_latency_max / options_.latency_max);
    flying_objects_.emplace(now_ + stretch * latency(), std::pair(target, *match));
    site.objects.erase(match);
  }

  void step() {
    now_ += options_.step;
    for (; !flying_objects_.empty() && flying_objects_.begin()->first <= now_;) {
      const auto [target, arrived] = flying_objects_.begin()->second;
      flying_objects_.erase(flying_objects_.begin());
      sites_[target.value()].objects.push_back(arrived);
      ++sites_[target.value()].arrived;
    }
    for (; !letters_.empty() && letters_.begin()->first <= now_;) {
      const letter each = letters_.begin()->second;
      letters_.erase(letters_.begin());
      site& target = sites_[each.target.value()];
      target.policy->on_message(target, each.source, each.bytes);
    }
    for (site& each : sites_) {
      if (!options_.frozen) work(each);
      if (options_.forge) forge(each);
      if (now_ < each.tick_at) continue;
      each.tick_at = now_ + options_.tick * (0.8 + 0.4 * random_.uniform());
      each.policy->on_tick(each);
    }
  }

  void work(site& place) {
    std::erase_if(place.objects, [&](piece& each) {
      if (!each.running) return false;
      work_done += std::min(each.work, options_.step);
      each.work -= options_.step;
      return each.work <= 0;
    });
    for (std::uint32_t idle = place.idle_workers(); piece & each : place.objects) {
      if (idle == 0) break;
      if (each.running) continue;
      each.running = true;
      each.moves = 0;
      --idle;
    }
    for (std::size_t i = place.objects.size(); i-- > 0;) {
      piece& each = place.objects[i];
      if (!each.running || each.work < 2 * each.grain || !place.policy->wanted()) continue;
      each.work /= 2;
      place.objects.push_back({object_id(place.self, ++last_index_), each.work, each.grain});
    }
  }

  void forge(site& site) {
    std::vector<std::byte> junk(random_.below(24));
    for (std::byte& each : junk) each = std::byte(random_.below(random_.below(2) == 0 ? 256 : 6));
    site.policy->on_message(site, rank_id{static_cast<std::uint32_t>(random_.below(2 * options_.ranks))}, junk);
  }

  double latency() { return options_.latency_max * (0.2 + 0.8 * random_.uniform()); }

  cluster_options options_;
  rng random_;
  double now_ = 0;
  std::uint64_t last_index_ = 0;
  std::deque<site> sites_;
  std::multimap<double, letter> letters_;
  std::multimap<double, std::pair<rank_id, piece>> flying_objects_;
};

/// The smallest possible greatest load when `works` are put on `machines` machines, by trying everything.
inline double best_makespan(const std::vector<double>& works, std::size_t machines) {
  std::vector<double> load(machines, 0);
  double best = 1e300;
  const std::function<void(std::size_t)> place = [&](std::size_t next) {
    if (next == works.size()) {
      best = std::min(best, *std::max_element(load.begin(), load.end()));
      return;
    }
    for (double& each : load) {
      each += works[next];
      if (each < best) place(next + 1);
      each -= works[next];
    }
  };
  place(0);
  return best;
}

}  // namespace nacre::balance
