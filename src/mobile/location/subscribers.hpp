// SPDX-License-Identifier: Apache-2.0
// The ranks that want to hear of an object's next migrations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// A bounded list that travels with an object; when it is full, the rank that has joined first leaves. Not
/// thread-safe: it belongs to the object's activation.
class subscribers {
 public:
  static constexpr std::size_t count_max = 16;

  /// A rank that is in the list already becomes the latest.
  void join(rank_id rank) {
    const auto known = std::find(ranks_.begin(), ranks_.end(), rank);
    if (known != ranks_.end()) {
      ranks_.erase(known);
    } else if (ranks_.size() == count_max) {
      ranks_.erase(ranks_.begin());
    }
    ranks_.push_back(rank);
  }

  /// The one that has joined first comes first.
  [[nodiscard]] std::span<const rank_id> all() const noexcept { return ranks_; }
  [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }

  /// Whether what a peer has sent can be the subscribers in a job with so many ranks.
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
