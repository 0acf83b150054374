// SPDX-License-Identifier: Apache-2.0
// The ranks that are told of an object's next migrations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// A bounded list that travels with an object; when it is full, the rank that joined first leaves. Not thread-safe: it
/// belongs to the object's activation.
class subscribers {
 public:
  static constexpr std::size_t count_max = 16;

  /// A rank that is in the list already moves to its end.
  void join(rank_id rank) {
    const auto known = std::find(ranks_.begin(), ranks_.end(), rank);
    if (known != ranks_.end()) {
      ranks_.erase(known);
    } else if (ranks_.size() == count_max) {
      ranks_.erase(ranks_.begin());
    }
    ranks_.push_back(rank);
  }

  /// The ranks, oldest first.
  [[nodiscard]] std::span<const rank_id> all() const noexcept { return ranks_; }
  [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }

  /// Whether the list, read from a peer, is valid in a job of that many ranks.
  [[nodiscard]] bool sound(std::uint32_t ranks) const {
    const bool known = std::all_of(ranks_.begin(), ranks_.end(), [&](rank_id each) { return each.value() < ranks; });
    std::vector<rank_id> sorted(ranks_);
    std::sort(sorted.begin(), sorted.end());
    return known && ranks_.size() <= count_max && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(ranks_);
  }

 private:
  std::vector<rank_id> ranks_;
};

}  // namespace nacre
