// SPDX-License-Identifier: Apache-2.0
// A script in which every rank sends numbered messages to every rank and checks those that it gets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/conformance/harness.hpp"

namespace nacre::transport::conformance {

/// The messages that each rank sends to each rank, itself included.
struct traffic {
  std::vector<std::uint32_t> payload_bytes;  ///< sizes, used cyclically
  std::uint32_t messages = 0;                ///< on each channel
  std::uint32_t batch = 1;                   ///< messages that are submitted together
};

/// A message with header and payload that follow from its place in a stream.
[[nodiscard]] message_ptr numbered_message(rank_id source, channel channel, std::uint32_t sequence,
                                           std::uint32_t payload_bytes);
/// Reports a failure unless `m` is that message, to the last bit of its header.
void expect_numbered(const message& m, std::uint32_t sequence, std::uint32_t payload_bytes);

/// Submits all of the traffic, keeps the messages that submit leaves, and takes those that arrive. Done when all
/// messages are sent and all have come: each once, and in order on its channel.
class streams final : public rank_script {
 public:
  streams(rank_id own_rank, std::uint32_t size, const traffic& traffic);
  progress step(endpoint& endpoint) override;

 private:
  struct outgoing {  // to one rank on one channel
    message_list batch;
    std::uint32_t count = 0;
  };

  [[nodiscard]] std::uint32_t payload_bytes_of(std::uint32_t sequence) const;
  bool send(endpoint& endpoint);
  bool take(endpoint& endpoint);

  rank_id rank_;
  traffic traffic_;
  std::vector<outgoing> outgoing_;                                  // by target
  std::vector<std::array<std::uint32_t, channel_count>> received_;  // by source and channel
  std::uint64_t missing_;
};

/// Gives each rank this traffic.
[[nodiscard]] rank_scripts everyone_sends(std::uint32_t size, const traffic& traffic);

}  // namespace nacre::transport::conformance
