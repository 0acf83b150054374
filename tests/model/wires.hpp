// SPDX-License-Identifier: Apache-2.0
// A transport that delivers what it is told to, when it is told to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace model {

/// Where one message can come from: the oldest of those from a rank to another on a channel.
struct wire_end {
  std::uint32_t source, target;
  nacre::channel message_channel;
  friend auto operator<=>(const wire_end&, const wire_end&) = default;
};

/// All messages between the ranks. In order for each (from, to, channel), as every transport promises; between these,
/// whoever calls `deliver` decides. One thread. Outlives its endpoints.
class wires {
 public:
  explicit wires(std::uint32_t ranks) : arrived_(ranks) {}

  [[nodiscard]] std::unique_ptr<nacre::transport::endpoint> open(nacre::rank_id rank);
  /// The ends that have a message.
  [[nodiscard]] std::vector<wire_end> loaded() const;
  /// The message that `deliver` would deliver.
  [[nodiscard]] const nacre::message& oldest(const wire_end& wire_end) const {
    return *under_way_.at(wire_end).front();
  }
  /// Makes the oldest message of that end visible to its receiver's poll.
  void deliver(const wire_end& wire_end);
  /// Messages that are visible and have not been polled.
  [[nodiscard]] std::size_t waiting(std::uint32_t rank) const { return arrived_[rank].size(); }

 private:
  class endpoint;
  std::map<wire_end, std::deque<nacre::message_ptr>> under_way_;  // no queue is empty
  std::vector<std::deque<nacre::message_ptr>> arrived_;           // by rank
};

}  // namespace model
