// SPDX-License-Identifier: Apache-2.0
// The choice of victims.
#include "victims.hpp"

#include <algorithm>
#include <cstddef>

namespace uts {

victims::victims(nacre::rank_id self, std::uint32_t size, std::uint32_t near_requests,
                 const std::vector<std::uint64_t>& hosts)
    : self_(self.value()), size_(size), near_requests_(near_requests) {
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != hosts[self_]) continue;
    if (rank < self_) ++near_below_self_;
    near_.push_back(rank);
  }
}

nacre::rank_id victims::next(nacre::rng& random) {
  if (near_requests_ == 0 || near_.size() < 2 || near_.size() == size_) {
    const auto offset = static_cast<std::uint32_t>(1 + random.below(size_ - 1));
    return nacre::rank_id{(self_ + offset) % size_};
  }
  const bool stays = in_a_row_ < near_requests_;
  in_a_row_ = stays ? in_a_row_ + 1 : 0;
  if (!stays) return stranger(static_cast<std::uint32_t>(random.below(size_ - near_.size())));
  const std::size_t index = random.below(near_.size() - 1);
  return nacre::rank_id{near_[index < near_below_self_ ? index : index + 1]};
}

/// The stranger that `index` others precede: as many ranks of the own host precede it as have no more than `index`
/// strangers before them.
nacre::rank_id victims::stranger(std::uint32_t index) const noexcept {
  std::uint32_t skipped = 0;
  for (std::uint32_t end = static_cast<std::uint32_t>(near_.size()); skipped < end;) {
    const std::uint32_t middle = (skipped + end) / 2;
    if (near_[middle] - middle <= index) {
      skipped = middle + 1;
    } else {
      end = middle;
    }
  }
  return nacre::rank_id{index + skipped};
}

bool victims::is_near(nacre::rank_id rank) const noexcept {
  return std::binary_search(near_.begin(), near_.end(), rank.value());
}

}  // namespace uts
