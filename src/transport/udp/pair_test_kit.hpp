// SPDX-License-Identifier: Apache-2.0
// Two ranks of this process that send each other datagrams.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "transport/udp/fabric.hpp"

namespace nacre::transport::udp {

constexpr std::chrono::seconds longest_wait{30};

class pair_over_datagrams {
 public:
  explicit pair_over_datagrams(const settings& settings = {}) : fabric_(2, settings) {
    std::thread other([this] { ends_[1] = fabric_.open(rank_id(1)); });
    ends_[0] = fabric_.open(rank_id(0));
    other.join();
  }
  [[nodiscard]] endpoint& at(std::size_t rank) { return *ends_[rank]; }
  void send(std::uint32_t source, std::uint32_t bytes) {
    message_list batch;
    batch.push_back(make_message(bytes));
    batch.front()->header.source = source;
    at(source).submit(rank_id(1 - source), batch);
    EXPECT_TRUE(batch.empty());
  }
  /// Polls both until so many messages have come to the rank.
  [[nodiscard]] std::size_t take(std::size_t rank, std::size_t count) {
    message_list arrived, nothing;
    for (const auto start = std::chrono::steady_clock::now();
         arrived.size() < count && std::chrono::steady_clock::now() - start < longest_wait;) {
      at(rank).poll(arrived, 64);
      at(1 - rank).poll(nothing, 64);
    }
    EXPECT_TRUE(nothing.empty());
    return arrived.size();
  }

 private:
  local_fabric fabric_;
  std::unique_ptr<endpoint> ends_[2];
};

}  // namespace nacre::transport::udp
