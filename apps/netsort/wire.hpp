// SPDX-License-Identifier: Apache-2.0
// A wire of the network as a mobile object.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <nacre/nacre.hpp>

#include "key_costs.hpp"

namespace netsort {

using key = std::uint64_t;

/// The keys that a wire begins with: a pure function, so that whoever checks the result can make them again.
[[nodiscard]] std::vector<key> keys_of_wire(std::uint64_t seed, std::uint32_t wire, std::uint32_t count);

/// Those keys in order, as the wire has them when it begins.
[[nodiscard]] std::vector<key> sorted_keys_of_wire(std::uint64_t seed, std::uint32_t wire, std::uint32_t count);
/// Of the keys of two wires, each sorted, the lower or the upper half.
[[nodiscard]] std::vector<key> half_of(const std::vector<key>& mine, const std::vector<key>& theirs, bool low);

/// What all wires of one round have in common.
struct round_plan {
  std::uint32_t wires = 0;   ///< a power of two
  std::uint32_t keys = 1;    ///< on each wire
  std::uint32_t wander = 0;  ///< a wire moves on to the next rank after so many steps; 0: it stays
  std::uint64_t seed = 1;
  key_costs costs{};  ///< where time is simulated

  template <class Archive>
  void serialize(Archive& ar) {
    ar(wires, keys, wander, seed, costs);
  }
};

/// A wire with its keys. In each step it sends them to its partner and keeps the lower or the upper half of both. No
/// step is a barrier: a wire goes on as soon as its partner's keys are there, so partners may be some steps ahead, and
/// what they send is put aside until it is due.
class wire {
 public:
  using pointer = nacre::mobile_ptr<wire>;

  wire() = default;
  explicit wire(std::uint32_t number) : number_(number) {}

  /// Begins a round. `partners[b]` is the wire whose number differs in bit b.
  void begin(nacre::context& ctx, round_plan plan, std::vector<pointer> partners);
  /// The keys of the partner in a step.
  void compare(nacre::context& ctx, std::uint32_t step, std::vector<key> theirs);
  /// What it has now, in order.
  [[nodiscard]] std::vector<key> keys() const { return keys_; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number_, plan_, partners_, keys_, step_, running_, early_);
  }

 private:
  void offer(nacre::context& ctx);
  void go_on(nacre::context& ctx);

  std::uint32_t number_ = 0;
  round_plan plan_;
  std::vector<pointer> partners_;
  std::vector<key> keys_;  // sorted
  std::uint32_t step_ = 0;
  bool running_ = false;
  std::map<std::uint32_t, std::vector<key>> early_;  // by step
};

}  // namespace netsort
