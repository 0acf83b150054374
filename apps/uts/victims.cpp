// SPDX-License-Identifier: Apache-2.0
// The choice of victims.
#include "victims.hpp"

namespace uts {

victims::victims(nacre::rank_id self, std::uint32_t size, std::uint32_t near_requests,
                 const std::vector<std::uint64_t>& hosts)
    : self_(self.value()), size_(size), near_requests_(near_requests) {
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
    is_near_.push_back(hosts[rank] == hosts[self_]);
    if (rank != self_) (is_near_[rank] ? neighbours_ : strangers_).emplace_back(rank);
  }
}

nacre::rank_id victims::next(nacre::rng& random) {
  if (near_requests_ == 0 || neighbours_.empty() || strangers_.empty()) {
    const auto offset = static_cast<std::uint32_t>(1 + random.below(size_ - 1));
    return nacre::rank_id{(self_ + offset) % size_};
  }
  const bool stays = in_a_row_ < near_requests_;
  in_a_row_ = stays ? in_a_row_ + 1 : 0;
  const std::vector<nacre::rank_id>& choice = stays ? neighbours_ : strangers_;
  return choice[random.below(choice.size())];
}

}  // namespace uts
