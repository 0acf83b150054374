// SPDX-License-Identifier: Apache-2.0
// The part that fabrics share whose ranks are all in this process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transport/transport.hpp"

namespace nacre::transport {

/// Ranks 0 to ranks - 1 are here, and no others are in the job.
class in_process_fabric : public fabric {
 public:
  std::uint32_t size() const noexcept final { return static_cast<std::uint32_t>(ranks_.size()); }
  std::span<const rank_id> local_ranks() const noexcept final { return ranks_; }

 protected:
  explicit in_process_fabric(std::uint32_t ranks) {
    ranks_.reserve(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) ranks_.emplace_back(rank);
  }

 private:
  std::vector<rank_id> ranks_;
};

}  // namespace nacre::transport
