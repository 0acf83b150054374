// SPDX-License-Identifier: Apache-2.0
// The fabric of the one rank that this process is, in a job that a launcher has started.
#include "transport/member_fabric.hpp"

#include <nacre/assert.hpp>

namespace nacre::transport {

member_fabric::member_fabric(launch::membership membership, launch::join_options options, end_maker make)
    : self_(std::move(membership)),
      rank_(self_.rank()),
      options_(std::move(options)),
      sharing_cores_(self_.count_ranks_sharing_cores(options_)),
      make_(std::move(make)) {}

std::unique_ptr<endpoint> member_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank == rank_, "the launcher has given this process another rank");
  return make_(self_.join(options_));
}

}  // namespace nacre::transport
