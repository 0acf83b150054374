// SPDX-License-Identifier: Apache-2.0
// For tests: a scripted host of one balancer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

/// The answers of a host, as of class balancing, over objects that a test has made; no sampling.
[[nodiscard]] inline std::vector<object_load> candidates_of(std::span<const object_load> all, std::size_t most,
                                                            candidate_kind kind) {
  std::vector<object_load> object_loads;
  for (const object_load& each : all) {
    if (!each.running && (kind == candidate_kind::any || each.messages != 0)) object_loads.push_back(each);
  }
  std::stable_sort(object_loads.begin(), object_loads.end(),
                   [](const object_load& a, const object_load& b) { return sane(a.load) > sane(b.load); });
  object_loads.resize(std::min(object_loads.size(), most));
  return object_loads;
}

[[nodiscard]] inline std::size_t waiting_of(std::span<const object_load> all) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const object_load& each) { return !each.running && each.messages != 0; }));
}

[[nodiscard]] inline std::optional<object_load> load_of(std::span<const object_load> all, object_id object) {
  const auto position =
      std::find_if(all.begin(), all.end(), [&](const object_load& each) { return each.object == object; });
  return position != all.end() ? std::optional(*position) : std::nullopt;
}

/// Records the messages and migrations of its balancer, and carries out none.
class scripted_host final : public balancer_host {
 public:
  [[nodiscard]] rank_id rank() const noexcept override { return self; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return ranks; }
  [[nodiscard]] rank_load summary() override { return {.waiting = waiting_of(objects), .running = 1}; }
  [[nodiscard]] std::span<const object_load> candidates(std::size_t most, candidate_kind kind) override {
    matches = candidates_of(objects, most, kind);
    return matches;
  }
  [[nodiscard]] std::optional<object_load> load_of(object_id object) override {
    const bool gone = std::find(moved.begin(), moved.end(), object.index()) != moved.end();
    return gone ? std::nullopt : balance::load_of(objects, object);
  }
  [[nodiscard]] std::span<const object_load> local_loads() override { return objects; }
  [[nodiscard]] std::span<const object_traffic> traffic(object_id object) override { return talks[object.index()]; }
  void assume_message_seconds(double seconds) override { assumed_seconds = seconds; }
  [[nodiscard]] double total_load() override {
    double total = 0;
    for (const object_load& each : objects) total += sane(each.load);
    return total;
  }
  [[nodiscard]] std::uint32_t workers() const override { return 1; }
  [[nodiscard]] std::uint32_t idle_workers() const override { return idle; }
  [[nodiscard]] std::uint64_t arrivals() const override { return arrived; }
  void send(rank_id target, std::span<const std::byte> bytes) override {
    sent.emplace_back(target, std::vector(bytes.begin(), bytes.end()));
  }
  void migrate(object_id object, rank_id target) override {
    moved.push_back(object.index());
    moved_to.push_back(target);
  }
  bool migrate_if_worth(object_id object, rank_id target) override {
    if (too_large.contains(object.index())) return false;
    migrate(object, target);
    return true;
  }
  [[nodiscard]] nacre::rng& rng() override { return stream; }
  [[nodiscard]] double now() const override { return time; }

  rank_id self{0};
  std::uint32_t ranks = 100;
  std::vector<object_load> objects;
  std::vector<object_load> matches;                            // scratch
  std::map<std::uint64_t, std::vector<object_traffic>> talks;  // by index of the object
  double assumed_seconds = -1;
  std::vector<std::pair<rank_id, std::vector<std::byte>>> sent;
  std::set<std::uint64_t> too_large;  // indices of objects
  std::vector<std::uint64_t> moved;   // likewise
  std::vector<rank_id> moved_to;
  std::uint32_t idle = 0;
  std::uint64_t arrived = 0;
  double time = 0;
  nacre::rng stream{1};
};

inline object_load object(std::uint64_t index, double load, std::uint32_t messages, bool running = false) {
  return {.object = object_id(rank_id{0}, index), .load = load, .messages = messages, .running = running};
}

}  // namespace nacre::balance
