// SPDX-License-Identifier: Apache-2.0
// A reduction over all nodes along a tree, again and again: its result depends on no order of arrival.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <nacre/emulator.hpp>

#include "stand_ins.hpp"

namespace emulate {

/// A place of the grid in a tree of all places by their numbers; (0, 0, 0) is its root.
class tree_place {
 public:
  static constexpr std::uint64_t arity = 8;

  tree_place(const nacre::emulated_node& node, const nacre::coordinates& place) noexcept
      : grid_(node.machine().grid), nodes_(node.machine().nodes()) {
    number_ = static_cast<std::uint64_t>(place.x + std::int64_t{grid_.x} * (place.y + std::int64_t{grid_.y} * place.z));
  }
  [[nodiscard]] bool is_root() const noexcept { return number_ == 0; }
  [[nodiscard]] std::uint32_t children() const noexcept {
    const std::uint64_t first = number_ * arity + 1;
    return first >= nodes_ ? 0 : static_cast<std::uint32_t>(std::min(arity, nodes_ - first));
  }
  [[nodiscard]] nacre::coordinates parent() const noexcept {
    const std::uint64_t up = (number_ - 1) / arity;
    const auto x = static_cast<std::uint64_t>(grid_.x);
    const auto y = static_cast<std::uint64_t>(grid_.y);
    return {up % x, up / x % y, up / x / y};
  }
  /// This node's slot at its parent; slot 0 is the parent's own.
  [[nodiscard]] std::uint32_t slot() const noexcept { return static_cast<std::uint32_t>((number_ - 1) % arity) + 1; }

 private:
  nacre::coordinates grid_;
  std::uint64_t nodes_;
  std::uint64_t number_;
};

/// What a node keeps of all rounds that are under way. `Value` is trivially copyable and has add(const Value&).
template <class Value>
struct tree_reduction {
  /// One round: the parts in the order in which they will be added.
  struct round_parts {
    std::uint32_t round = 0;
    std::uint32_t arrived = 0;
    std::array<Value, tree_place::arity + 1> parts{};
  };
  std::vector<round_parts> open;
  std::vector<Value> results;  ///< at the root: of each round

  /// Returns the sum when it was the last of `expected` parts.
  std::optional<Value> add(std::uint32_t round, std::uint32_t slot, std::uint32_t expected, const Value& part) {
    auto position = open.begin();
    while (position != open.end() && position->round != round) ++position;
    if (position == open.end()) position = open.insert(position, round_parts{round});
    position->parts[slot] = part;
    if (++position->arrived < expected) return std::nullopt;
    Value sum = position->parts[0];
    for (std::uint32_t k = 1; k < expected; ++k) sum.add(position->parts[k]);
    open.erase(position);
    return sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(open, results);
  }
};

/// Gives a value of the place that is this part of the node's work (slot 0), or takes the sum of a child.
template <class Value>
void contribute_to(nacre::emulated_node& node, std::uint32_t part, std::uint32_t round, std::uint32_t slot,
                   Value value) {
  const tree_place place(node, place_of_part(node, part));
  auto& tree = node.state<parts_of<tree_reduction<Value>>>()[part];
  const std::optional<Value> sum = tree.add(round, slot, place.children() + 1, value);
  if (!sum) return;
  if (!place.is_root()) {
    const work_place parent = work_place_of(node, place.parent());
    return node.send<&contribute_to<Value>>(nacre::emulated::communication, parent.node, parent.part, round,
                                            place.slot(), *sum);
  }
  if (tree.results.size() <= round) tree.results.resize(round + 1);
  tree.results[round] = *sum;
}

/// A hash of two words, all of whose bits depend on all of theirs (splitmix64).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a * 0x2545f4914f6cdd1d + b + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
/// The same as a number in [0, 1).
[[nodiscard]] constexpr double mixed_unit(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<double>(mixed(a, b) >> 11) * 0x1p-53;
}

}  // namespace emulate
