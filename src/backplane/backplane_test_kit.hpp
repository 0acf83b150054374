// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the backplane: a scripted link, a sink that remembers, numbered messages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backplane/backplane.hpp"

namespace nacre {

/// The backplane passes thread contexts on without reading them, so that these tests may define their own.
class thread_context {};

namespace backplane_test {

using numbers = std::vector<std::uint32_t>;

inline constexpr std::chrono::seconds patience{30};

[[nodiscard]] inline message_ptr numbered(std::uint32_t number, std::uint32_t source = 0) {
  message_ptr m = make_message(0);
  m->header.sequence = number;
  m->header.source = source;
  return m;
}

[[nodiscard]] inline numbers counting(std::uint32_t first, std::uint32_t end) {
  numbers all;
  for (std::uint32_t i = first; i < end; ++i) all.push_back(i);
  return all;
}

/// Rank 0 of three. It has room for as many messages to each rank as the test allows, and remembers the ones it took.
class scripted_endpoint final : public transport::endpoint {
 public:
  static constexpr std::uint32_t ranks = 3;
  static constexpr std::size_t boundless = ~std::size_t{0};

  explicit scripted_endpoint(const transport::capabilities& declared) : declared_(declared) {}

  rank_id rank() const noexcept override { return rank_id(0); }
  std::uint32_t size() const noexcept override { return ranks; }
  const transport::capabilities& declared() const noexcept override { return declared_; }

  void submit(rank_id target, message_list& batch) override {
    std::size_t& free = room[target.value()];
    if (on_submit) on_submit();
    while (free > 0 && !batch.empty()) {
      taken[target.value()].push_back(batch.pop_front()->header.sequence);
      if (free != boundless) --free;
    }
  }
  bool poll(message_list& arrived, std::size_t) override {
    const bool moved = !incoming.empty();
    arrived.append(incoming);
    return moved;
  }
  void wait(std::chrono::nanoseconds timeout) override { waits.push_back(timeout); }
  void wake() noexcept override { ++wakes; }
  std::optional<transport::failure> failed() override {
    ++failure_questions;
    if (failures.empty()) return std::nullopt;
    transport::failure first = std::move(failures.front());
    failures.pop_front();
    return first;
  }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds timeout) override {
    closed_after = taken[1].size();
    close_timeout = timeout;
  }

  std::function<void()> on_submit;
  std::vector<std::size_t> room = std::vector<std::size_t>(ranks, boundless);  // by target
  std::vector<numbers> taken = std::vector<numbers>(ranks);                    // by target
  message_list incoming;
  std::deque<transport::failure> failures;
  std::size_t failure_questions = 0;
  std::vector<std::chrono::nanoseconds> waits;
  std::atomic<std::size_t> wakes{0};
  std::optional<std::size_t> closed_after;  // messages sent to rank 1 by then
  std::chrono::nanoseconds close_timeout{0};

 private:
  transport::capabilities declared_;
};

/// Remembers the messages that it got, one list for each delivery.
class remembering_sink final : public message_sink {
 public:
  void deliver(thread_context& thread, message_list& arrived) override {
    EXPECT_FALSE(inside) << "a delivery began inside another one";
    inside = true;
    last_thread = &thread;
    deliveries.emplace_back();
    while (const message_ptr m = arrived.pop_front()) {
      deliveries.back().push_back(m->header.sequence);
      if (on_message) on_message(m->header.sequence);
    }
    inside = false;
  }
  void flush(thread_context& thread) override {
    if (on_flush) on_flush(thread);
  }
  void peer_failed(const transport::failure& failure) override { failures.push_back(failure.reason); }
  [[nodiscard]] bool idle() const override { return true; }

  [[nodiscard]] numbers all() const {
    numbers joined;
    for (const numbers& each : deliveries) joined.insert(joined.end(), each.begin(), each.end());
    return joined;
  }

  std::vector<numbers> deliveries;
  std::vector<std::string> failures;
  std::function<void(std::uint32_t)> on_message;
  std::function<void(thread_context&)> on_flush;
  thread_context* last_thread = nullptr;
  bool inside = false;
};

/// A backplane over a scripted link.
struct scripted_rank {
  explicit scripted_rank(const transport::capabilities& declared = {}, const backplane::settings& bounds = {})
      : link(new scripted_endpoint(declared)), plane(std::unique_ptr<transport::endpoint>(link), time, bounds) {
    plane.attach(sink);
  }
  bool poll() { return plane.progress(thread); }

  manual_clock time{std::chrono::seconds(1)};
  scripted_endpoint* link;  // the backplane's
  remembering_sink sink;
  thread_context thread;
  backplane plane;
};

}  // namespace backplane_test
}  // namespace nacre
