// SPDX-License-Identifier: Apache-2.0
// The fabric of the one rank that this process is, in a job that a launcher has started.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "join/launch/member.hpp"
#include "transport/transport.hpp"

namespace nacre::transport {

/// A fabric of one rank. `open` joins the job and makes the endpoint from the connections.
class member_fabric final : public fabric {
 public:
  using end_maker = std::function<std::unique_ptr<endpoint>(launch::joined_rank)>;

  member_fabric(launch::membership membership, launch::join_options options, end_maker make);
  /// The place comes from PMIx or nacre run.
  member_fabric(launch::join_options options, end_maker make)
      : member_fabric(launch::membership(), std::move(options), std::move(make)) {}

  std::uint32_t size() const noexcept override { return self_.size(); }
  std::uint32_t ranks_on_host() const noexcept override { return self_.ranks_on_host(); }
  std::uint32_t ranks_sharing_cores() const noexcept override { return sharing_cores_; }
  std::optional<std::uint32_t> place_on_host() const noexcept override {
    return sharing_cores_ == 1 ? std::optional(0U) : self_.place_on_host();
  }
  std::span<const rank_id> local_ranks() const noexcept override { return {&rank_, 1}; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  launch::membership self_;
  rank_id rank_;
  launch::join_options options_;
  std::uint32_t sharing_cores_;
  end_maker make_;
};

}  // namespace nacre::transport
