// SPDX-License-Identifier: Apache-2.0
// A simulated machine of known costs, and the messages that each rank of it has received.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <nacre/config.hpp>
#include "transport/sim/sim_fabric.hpp"

namespace nacre::transport::sim_tests {

using std::chrono::nanoseconds;

/// L = 1000, o = 200 sending and 100 receiving, g = 30, G = 1 ns a byte; a header is 40 bytes.
[[nodiscard]] inline sim_options plain(std::uint64_t seed = 1) {
  sim_options options{.machine = {.seed = seed}, .network = {}};
  options.network.remote = {.latency = nanoseconds(1000),
                            .send_overhead = nanoseconds(200),
                            .receive_overhead = nanoseconds(100),
                            .gap = nanoseconds(30),
                            .bytes_per_second = 1e9,
                            .jitter = 0};
  return options;
}

[[nodiscard]] inline message_ptr numbered(std::uint32_t number, channel on_channel = channel::application,
                                          std::size_t bytes = 0) {
  message_ptr m = make_message(bytes);
  std::memset(m->body(), 0, bytes);
  m->header.sequence = number;
  m->header.channel = on_channel;
  return m;
}

/// All endpoints of one machine, and the messages that each has received so far, with their times.
struct job {
  struct receipt {
    std::int64_t when_ns;
    std::uint32_t number;
    channel on_channel;
    bool operator==(const receipt&) const = default;
  };
  struct hook_subject {
    job* all;
    std::uint32_t rank;
  };

  sim_fabric fabric;
  std::vector<std::unique_ptr<sim_endpoint>> ends;
  std::vector<hook_subject> hook_subjects;
  std::vector<std::vector<receipt>> received;

  job(std::uint32_t ranks, const sim_options& options) : fabric(ranks, options), received(ranks) {
    hook_subjects.reserve(ranks);
    for (const rank_id rank : fabric.local_ranks()) {
      ends.emplace_back(static_cast<sim_endpoint*>(fabric.open(rank).release()));
      hook_subjects.push_back({this, rank.value()});
      ends.back()->set_arrival_hook(&job::on_arrival, &hook_subjects.back());
    }
  }

  static void on_arrival(void* self) {
    const auto& [all, rank] = *static_cast<hook_subject*>(self);
    all->take(rank);
  }

  void take(std::uint32_t rank) {
    message_list arrived;
    const std::int64_t when_ns = fabric.machine().now().count();
    ends[rank]->poll(arrived, 1000);
    while (const message_ptr m = arrived.pop_front()) {
      received[rank].push_back({when_ns, m->header.sequence, m->header.channel});
    }
  }

  void send(std::uint32_t source, std::uint32_t target, message_ptr m) {
    message_list batch;
    batch.push_back(std::move(m));
    ends[source]->submit(rank_id{target}, batch);
    EXPECT_TRUE(batch.empty());
  }

  std::uint64_t run() {
    while (fabric.advance()) {
    }
    return fabric.machine().trace_hash();
  }
};

}  // namespace nacre::transport::sim_tests
