// SPDX-License-Identifier: Apache-2.0
// Flow control: a busy rank holds at most a window, an idle one lets everything come, nothing is lost, liars are found
// out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "backplane/backplane.hpp"
#include "backplane/backplane_test_kit.hpp"
#include "base/clock.hpp"

namespace nacre {
namespace {

constexpr std::uint64_t window = 4096;

/// One direction of a link between two ranks, which carries packed messages by copy.
using wire_queue = message_list;

class pair_end final : public transport::endpoint {
 public:
  pair_end(std::uint32_t self, wire_queue& out, wire_queue& in) : self_(self), out_(out), in_(in) {}
  rank_id rank() const noexcept override { return self_; }
  std::uint32_t size() const noexcept override { return 2; }
  const transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id, message_list& batch) override {
    while (const message_ptr m = batch.pop_front()) {
      message_ptr copy = make_message(m->header.payload_bytes);
      copy->header = m->header;
      sent_bytes += m->header.kind == message_kind::credit ? 0 : bytes_of(m->header);
      out_.push_back(std::move(copy));
    }
  }
  bool poll(message_list& arrived, std::size_t) override {
    const bool moved = !in_.empty();
    arrived.append(in_);
    return moved;
  }
  void wait(std::chrono::nanoseconds) override {}
  void wake() noexcept override {}
  std::optional<transport::failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override {}

  std::uint64_t sent_bytes = 0;

 private:
  rank_id self_;
  wire_queue& out_;
  wire_queue& in_;
  transport::capabilities declared_;
};

/// Holds arriving messages until the test releases them.
class holding_sink final : public message_sink {
 public:
  void deliver(thread_context&, message_list& arrived) override {
    while (message_ptr m = arrived.pop_front()) {
      numbers.push_back(m->header.sequence);
      held_bytes += bytes_of(m->header);
      held.push_back(std::move(m));
    }
    held_bytes_max = std::max(held_bytes_max, held_bytes);
  }
  void flush(thread_context&) override {}
  void peer_failed(const transport::failure& failure) override { failures.push_back(failure.reason); }
  [[nodiscard]] bool idle() const override { return at_rest; }
  void release_one() {
    const message_ptr m = held.pop_front();
    if (m != nullptr) held_bytes -= bytes_of(m->header);
  }

  std::vector<std::uint32_t> numbers;
  std::vector<std::string> failures;
  message_list held;
  std::uint64_t held_bytes = 0;
  std::uint64_t held_bytes_max = 0;
  bool at_rest = false;
};

struct pair_of_ranks {
  // Two channels share the memory of the one peer.
  explicit pair_of_ranks(const backplane::settings& settings = {.receive_bytes = 2 * window, .send_bytes = 2 * window})
      : bounds(settings) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) planes[rank]->attach(sinks[rank]);
  }
  /// Both poll until nothing moves.
  void drain() {
    for (int still = 0; still < 3; ++still) {
      for (auto& each : planes) {
        if (each->progress(thread)) still = 0;
      }
    }
  }
  void send(std::uint32_t number, std::size_t payload_bytes, message_kind kind = message_kind::rank,
            channel via = channel::application, std::uint8_t hops = 0) {
    message_ptr m = make_message(payload_bytes);
    m->header.sequence = number;
    m->header.kind = kind;
    m->header.channel = via;
    m->header.hops = hops;
    planes[0]->send(rank_id(1), std::move(m));
  }

  manual_clock time;
  std::array<wire_queue, 2> wires;
  std::array<pair_end*, 2> ends{new pair_end(0, wires[0], wires[1]), new pair_end(1, wires[1], wires[0])};
  const backplane::settings bounds;
  std::array<std::unique_ptr<backplane>, 2> planes{
      std::make_unique<backplane>(std::unique_ptr<transport::endpoint>(ends[0]), time, bounds),
      std::make_unique<backplane>(std::unique_ptr<transport::endpoint>(ends[1]), time, bounds)};
  std::array<holding_sink, 2> sinks;
  thread_context thread;
};

std::vector<std::uint32_t> counting(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

TEST(credit_flow, a_busy_rank_is_sent_a_window_and_the_rest_when_it_releases) {
  pair_of_ranks two;
  constexpr std::uint32_t count = 300;
  for (std::uint32_t i = 0; i < count; ++i) two.send(i, 60);
  two.drain();
  EXPECT_LE(two.ends[0]->sent_bytes, window);
  EXPECT_GT(two.ends[0]->sent_bytes, window - 2 * 104);
  EXPECT_TRUE(two.planes[0]->congested());
  for (std::uint32_t i = 0; i < count; ++i) {
    two.sinks[1].release_one();
    two.drain();
  }
  EXPECT_EQ(two.sinks[1].numbers, counting(count));
  EXPECT_LE(two.sinks[1].held_bytes_max, window);
  EXPECT_EQ(two.planes[0]->waiting_bytes(), 0U);
  EXPECT_FALSE(two.planes[0]->congested());
}

TEST(credit_flow, one_peer_is_given_no_more_than_a_window_however_much_memory_there_is) {
  pair_of_ranks two({.receive_bytes = std::uint64_t{1} << 40, .send_bytes = std::uint64_t{1} << 40});
  constexpr std::size_t bytes = 1'000'000;
  for (std::uint32_t i = 0; i < 2 * window_bytes_max / bytes; ++i) two.send(i, bytes);
  two.drain();
  EXPECT_LE(two.ends[0]->sent_bytes, window_bytes_max);
  EXPECT_GT(two.ends[0]->sent_bytes, window_bytes_max - 2 * bytes);
}

TEST(credit_flow, a_large_window_holds_half_a_mebibyte_of_small_messages) {
  pair_of_ranks two({.receive_bytes = std::uint64_t{1} << 40, .send_bytes = std::uint64_t{1} << 40});
  constexpr std::uint64_t most = std::uint64_t{512} << 10;
  for (std::uint32_t i = 0; i < 2 * most / 104; ++i) two.send(i, 60);
  two.drain();
  EXPECT_LE(two.ends[0]->sent_bytes, most);
  EXPECT_GT(two.ends[0]->sent_bytes, most - 2 * 104);
  for (std::uint32_t i = 0; i < 2 * most / 104; ++i) two.sinks[1].release_one();
  two.drain();
  EXPECT_GT(two.sinks[1].held_bytes, most / 2) << "granted as the first are released";
}

TEST(message_prices, a_bundle_costs_what_its_parts_cost_in_every_window) {
  for (const std::uint64_t window_bytes : {window_bytes_min, std::uint64_t{1} << 20, window_bytes_max}) {
    const message_prices prices(window_bytes);
    message_header bundle{}, part{};
    bundle.kind = message_kind::bundle;
    std::uint64_t parts = 0;
    for (const std::uint32_t payload_bytes : {0u, 1u, 8u, 1000u, 32u << 10}) {
      part.payload_bytes = payload_bytes;
      bundle.payload_bytes += static_cast<std::uint32_t>(bytes_of(part));
      parts += prices.cost_of(part);
    }
    EXPECT_EQ(prices.cost_of(bundle), parts) << window_bytes;
    bundle.object = bundle_stays_whole;
    EXPECT_EQ(prices.cost_of(bundle), bundle.payload_bytes);
    part.payload_bytes = 1u << 20;
    EXPECT_LE(prices.cost_of(part), bytes_of(part) + bytes_of(part) / 4) << "long messages cost their bytes";
  }
}

TEST(credit_flow, a_rank_that_has_nothing_to_run_lets_all_come_though_it_holds_what_came) {
  pair_of_ranks two;
  for (std::uint32_t i = 0; i < 300; ++i) two.send(i, 60);
  two.drain();
  ASSERT_LT(two.sinks[1].numbers.size(), 300U);
  two.sinks[1].at_rest = true;  // the messages that it holds wait for messages behind the window
  two.drain();
  EXPECT_EQ(two.sinks[1].numbers, counting(300));
  two.sinks[1].at_rest = false;
  while (!two.sinks[1].held.empty()) two.sinks[1].release_one();
  for (std::uint32_t i = 0; i < 300; ++i) two.send(i, 60);
  two.drain();
  EXPECT_LE(two.sinks[1].held_bytes, window) << "what was granted ahead is not granted again";
}

TEST(credit_flow, a_congested_rank_has_backpressure_while_it_drains_and_yields_bit_by_bit_when_it_does_not) {
  using std::chrono::milliseconds;
  pair_of_ranks two;
  backplane& full = *two.planes[0];
  const auto later = [&](milliseconds time) {
    two.time.advance(time);
    two.drain();
    return full.backpressure();
  };
  for (std::uint32_t i = 0; i < 300; ++i) two.send(i, 60);
  EXPECT_TRUE(full.backpressure());
  EXPECT_TRUE(later(milliseconds(1)));
  EXPECT_LE(full.duties().due() - two.time.now(), milliseconds(10));
  for (std::uint32_t i = 0; i < 30; ++i) two.sinks[1].release_one();  // some more leave
  EXPECT_TRUE(later(milliseconds(9)));
  EXPECT_TRUE(later(milliseconds(9)));
  EXPECT_FALSE(later(milliseconds(1))) << "nothing has left for a while";
  EXPECT_TRUE(full.congested());
  for (std::uint32_t i = 300; i < 315; ++i) two.send(i, 60);
  EXPECT_FALSE(later(milliseconds(1))) << "a quarter of the bound may be added";
  for (std::uint32_t i = 315; i < 330; ++i) two.send(i, 60);
  EXPECT_TRUE(later(milliseconds(1)));
  EXPECT_FALSE(later(milliseconds(10)));
  while (full.congested()) {
    two.sinks[1].release_one();
    two.drain();
  }
  EXPECT_FALSE(full.backpressure());
  for (std::uint32_t i = 330; !full.congested(); ++i) two.send(i, 60);
  EXPECT_TRUE(full.backpressure()) << "the next time begins anew";
  EXPECT_TRUE(later(milliseconds(1)));
}

TEST(credit_flow, replies_forwarded_and_system_messages_need_no_credit) {
  pair_of_ranks two;
  for (std::uint32_t i = 0; i < 100; ++i) two.send(i, 60);
  two.drain();
  const std::size_t previous = two.sinks[1].numbers.size();
  ASSERT_LT(previous, 100U);
  two.send(1000, 8, message_kind::rank, channel::system);
  two.send(1001, 8, message_kind::rank, channel::bulk);  // another window
  two.drain();
  EXPECT_EQ(two.sinks[1].numbers.size(), previous + 2);
  pair_of_ranks others;
  others.send(0, window - 40);
  others.drain();
  others.send(1, 8, message_kind::reply);
  others.send(2, 8, message_kind::object, channel::application, 1);
  others.drain();
  EXPECT_EQ(others.sinks[1].numbers, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(credit_flow, a_message_larger_than_the_window_goes_while_half_of_it_is_left) {
  pair_of_ranks two;
  two.send(0, window / 2);
  two.send(1, 10 * window);
  two.send(2, 8);
  two.drain();
  EXPECT_EQ(two.sinks[1].numbers, (std::vector<std::uint32_t>{0}));
  two.sinks[1].at_rest = true;
  two.drain();
  EXPECT_EQ(two.sinks[1].numbers, (std::vector<std::uint32_t>{0, 1, 2}));
  pair_of_ranks others;
  others.send(0, window / 4);
  others.send(1, 10 * window);
  others.send(2, 8);
  others.drain();
  EXPECT_EQ(others.sinks[1].numbers, (std::vector<std::uint32_t>{0, 1}));
}

TEST(credit_flow, no_message_waits_for_the_rest_that_a_busy_rank_has_digested_and_not_granted) {
  for (const std::size_t bytes : {window / 2, window - 100, window, 10 * window}) {
    for (std::size_t before = 0; before < window / 4; before += 100) {
      pair_of_ranks two;
      two.send(0, before);
      two.drain();
      two.sinks[1].release_one();
      two.drain();
      two.send(1, bytes);
      two.send(2, 8);
      two.drain();
      two.sinks[1].release_one();
      two.drain();
      EXPECT_EQ(two.sinks[1].numbers.size(), 3U) << before << " bytes, then " << bytes;
    }
  }
}

TEST(credit_flow, a_peer_that_grants_what_it_was_never_sent_ends_the_job) {
  pair_of_ranks two;
  two.send(0, 8);
  two.drain();
  message_ptr lie = make_message(0);
  lie->header.kind = message_kind::credit;
  lie->header.channel = channel::system;
  lie->header.source = 1;
  lie->header.handler = static_cast<std::uint32_t>(channel::application);
  lie->header.object = 1000;
  two.wires[1].push_back(std::move(lie));
  two.drain();
  EXPECT_EQ(two.sinks[0].failures.size(), 1U);
  for (const auto& [source, via] : {std::pair{7u, 1u}, std::pair{1u, 0u}, std::pair{1u, 9u}}) {
    message_ptr nonsense = make_message(0);
    nonsense->header.kind = message_kind::credit;
    nonsense->header.source = source;
    nonsense->header.handler = via;
    two.wires[1].push_back(std::move(nonsense));
  }
  two.drain();
  EXPECT_EQ(two.sinks[0].failures.size(), 4U);
}

TEST(credit_flow, under_random_sizes_and_releases_nothing_is_lost_and_the_bound_holds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random(seed);
    pair_of_ranks two;
    std::uint32_t sent = 0;
    const auto count = static_cast<std::uint32_t>(random.below(400));
    while (two.sinks[1].numbers.size() < count) {
      for (std::uint64_t some = random.below(20); some > 0 && sent < count; --some) two.send(sent++, random.below(500));
      for (std::uint64_t some = random.below(20); some > 0; --some) two.sinks[1].release_one();
      for (std::uint64_t polls = random.below(4); polls > 0; --polls) two.planes[random.below(2)]->progress(two.thread);
    }
    EXPECT_EQ(two.sinks[1].numbers, counting(count)) << "seed " << seed;
    EXPECT_LE(two.sinks[1].held_bytes_max, window) << "seed " << seed;
    EXPECT_TRUE(two.sinks[0].failures.empty() && two.sinks[1].failures.empty());
  }
}

}  // namespace
}  // namespace nacre
