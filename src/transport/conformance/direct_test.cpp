// SPDX-License-Identifier: Apache-2.0
// The promises of every backend with direct memory about copies between the memories of two ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "base/spin.hpp"
#include "transport/conformance/harness.hpp"

namespace nacre::transport::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using bytes = std::vector<std::byte>;

constexpr rank_id owner{0}, copier{1};

bytes filled(std::size_t count, std::uint64_t salt) {
  bytes result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(i * 7 + (i >> 8) + salt);
  return result;
}

/// Two ranks of one job; each is polled by a thread of its own, or both by advancing virtual time.
class direct_copies : public ::testing::TestWithParam<subject> {
 protected:
  direct_copies() : job_(GetParam()) {}
  ~direct_copies() override { stop_polling(); }

  void SetUp() override {
    if (!job_.declared().direct_memory) {
      EXPECT_EQ(job_.at(0).direct(), nullptr);
      GTEST_SKIP() << "direct_memory is not declared";
    }
    ASSERT_NE(job_.at(0).direct(), nullptr);
    if (!job_.at(0).direct()->reaches(copier)) GTEST_SKIP() << "these two ranks do not reach each other's memory";
    if (job_.declared().virtual_time) return;
    for (std::uint32_t rank = 0; rank < 2; ++rank) pollers_.emplace_back([this, rank] { poll_until_over(rank); });
  }

  direct_memory& of(rank_id rank) { return *job_.at(rank.value()).direct(); }

  registered_region register_region(bytes& memory, copy_way way) {
    const auto region = of(owner).register_region(copier, memory, way);
    EXPECT_TRUE(region);
    return region.value_or(registered_region{});
  }

  /// Has the copier begin a copy, inside its poll loop; returns its tag.
  std::uint64_t begin(const registered_region& region, copy_way way, bytes& bytes) {
    const std::scoped_lock lock(mutex_);
    asked_ = {.peer = owner, .region = region, .way = way, .local_memory = bytes, .tag = ++last_tag_};
    return last_tag_;
  }

  /// Does as begin, and returns once the copy has begun.
  std::uint64_t begin_now(const registered_region& region, copy_way way, bytes& bytes) {
    const std::uint64_t tag = begin(region, way, bytes);
    if (job_.declared().virtual_time) step(copier.value());
    while (begun_ != tag) std::this_thread::yield();
    return tag;
  }

  void await_taken(std::uint64_t tag) {
    while (!job_.declared().virtual_time && taken_ != tag) cpu_relax();
  }

  /// Waits until a copy has ended.
  bool end_of(std::uint64_t tag) {
    for (const auto deadline = steady_clock::now() + patience; steady_clock::now() < deadline;) {
      {
        const std::scoped_lock lock(mutex_);
        if (const auto position = ends_.find(tag); position != ends_.end()) return position->second;
      }
      if (!job_.declared().virtual_time) {
        std::this_thread::yield();
      } else {
        step(1);
        job_.net().advance();
      }
    }
    ADD_FAILURE() << "the copy does not end";
    return false;
  }
  bool copy(const registered_region& region, copy_way way, bytes& bytes) { return end_of(begin(region, way, bytes)); }

  /// Lets a random time pass.
  void pass_some_time(rng& random) {
    if (!job_.declared().virtual_time) {
      for (std::uint64_t left = random.below(2000); left != 0; --left) cpu_relax();
      return;
    }
    for (std::uint64_t left = random.below(5); left != 0; --left) {
      step(1);
      job_.net().advance();
    }
  }

  void stop_polling() {
    is_over_ = true;
    for (std::thread& each : pollers_) each.join();
    pollers_.clear();
  }

  job job_;

 private:
  void note(const direct_memory::ended_copy& copy) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(ends_.emplace(copy.tag, copy.well).second) << "a copy ends once";
  }
  void step(std::uint32_t rank) {
    std::optional<direct_copy> wanted;
    if (rank == copier.value()) {
      const std::scoped_lock lock(mutex_);
      wanted = std::exchange(asked_, std::nullopt);
    }
    if (wanted) {
      taken_ = wanted->tag;
      const copy_outcome outcome = of(copier).copy(*wanted);
      if (outcome != copy_outcome::pending) note({.tag = wanted->tag, .well = outcome == copy_outcome::done});
      begun_ = wanted->tag;
    }
    message_list none;
    job_.at(rank).poll(none, 64);
    while (const auto ended = job_.at(rank).direct()->take_ended()) note(*ended);
  }
  void poll_until_over(std::uint32_t rank) {
    for (int round = 0; !is_over_; ++round) {
      step(rank);
      if (round % 64 == 0) job_.at(rank).wait(std::chrono::microseconds(100));
    }
  }

  std::mutex mutex_;
  std::optional<direct_copy> asked_;    // under mutex_: the copy that the copier is to begin
  std::map<std::uint64_t, bool> ends_;  // under mutex_: by tag
  std::uint64_t last_tag_ = 0;
  std::atomic<std::uint64_t> taken_{0};  // the copy that is about to begin
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> pollers_;
};

INSTANTIATE_TEST_SUITE_P(every_backend, direct_copies, ::testing::ValuesIn(every_backend_with({2})),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(direct_copies, move_any_number_of_bytes_in_either_direction) {
  for (const std::size_t count : {1U, 8U, 4096U, 65'537U, 1U << 20}) {
    for (const copy_way way : {copy_way::from_region, copy_way::to_region}) {
      bytes remote = filled(count, 1), local_memory = filled(count, 2);
      const bytes expected = way == copy_way::from_region ? remote : local_memory;
      const registered_region region = register_region(remote, way);
      EXPECT_TRUE(copy(region, way, local_memory));
      of(owner).deregister(copier, region);
      EXPECT_TRUE(remote == expected && local_memory == expected) << count;
    }
  }
}

TEST_P(direct_copies, reach_no_region_that_was_deregistered_or_used_or_never_registered) {
  for (const copy_way way : {copy_way::from_region, copy_way::to_region}) {
    bytes remote = filled(100'000, 1), local_memory = filled(100'000, 2);
    const registered_region gone = register_region(remote, way);
    of(owner).deregister(copier, gone);
    EXPECT_FALSE(copy(gone, way, local_memory));
    const registered_region used = register_region(remote, way);
    EXPECT_FALSE(copy({.id = used.id + 64, .address = used.address}, way, local_memory));
    EXPECT_FALSE(copy({.id = 31, .address = used.address}, way, local_memory));
    EXPECT_TRUE(remote == filled(100'000, 1) && local_memory == filled(100'000, 2));
    EXPECT_TRUE(copy(used, way, local_memory));
    const bytes both = local_memory;
    local_memory = filled(100'000, 3);
    EXPECT_FALSE(copy(used, way, local_memory));
    of(owner).deregister(copier, used);
    EXPECT_TRUE(remote == both && local_memory == filled(100'000, 3));
  }
}

TEST_P(direct_copies, leave_the_owners_memory_alone_once_deregister_has_returned) {
  rng random(1);
  int well = 0, deregistered = 0;
  for (int round = 0; round < 200; ++round) {
    const copy_way way = round % 2 == 0 ? copy_way::from_region : copy_way::to_region;
    auto remote = std::make_unique<bytes>(filled(200'000, 1));
    bytes data = filled(200'000, 2);
    const registered_region region = register_region(*remote, way);
    const std::uint64_t tag = begin(region, way, data);
    if (round % 4 < 2) await_taken(tag);
    pass_some_time(random);
    of(owner).deregister(copier, region);
    std::fill(remote->begin(), remote->end(), std::byte{9});
    if (end_of(tag)) {
      ++well;
      EXPECT_TRUE(data == filled(200'000, way == copy_way::from_region ? 1 : 2))
          << "what was free to change was not read";
    } else {
      ++deregistered;
    }
    EXPECT_TRUE(std::all_of(remote->begin(), remote->end(), [](std::byte each) { return each == std::byte{9}; }));
  }
  EXPECT_GT(well, 0);
  RecordProperty("deregistered", deregistered);
}

TEST_P(direct_copies, leave_the_own_memory_alone_once_stop_has_returned) {
  rng random(2);
  int well = 0;
  for (int round = 0; round < 200; ++round) {
    const copy_way way = round % 2 == 0 ? copy_way::from_region : copy_way::to_region;
    bytes data = filled(200'000, 1);
    auto local_memory = std::make_unique<bytes>(filled(200'000, 2));
    const registered_region region = register_region(data, way);
    const std::uint64_t tag = begin_now(region, way, *local_memory);
    pass_some_time(random);
    of(copier).stop(tag);
    std::fill(local_memory->begin(), local_memory->end(), std::byte{9});
    if (end_of(tag)) {
      ++well;
      EXPECT_TRUE(data == filled(200'000, way == copy_way::from_region ? 1 : 2))
          << "what was free to change was not read";
    }
    EXPECT_TRUE(
        std::all_of(local_memory->begin(), local_memory->end(), [](std::byte each) { return each == std::byte{9}; }));
    of(owner).deregister(copier, region);
  }
  EXPECT_GT(well, 0);
}

TEST_P(direct_copies, do_not_keep_memory_of_a_rank_whose_peer_has_ended) {
  if (!job_.declared().separate_processes) GTEST_SKIP() << "no peer can end alone";
  bytes remote = filled(1 << 20, 1), local_memory = filled(1 << 20, 2);
  std::vector<registered_region> all;
  for (const copy_way way : {copy_way::from_region, copy_way::to_region}) {
    all.push_back(register_region(remote, way));
    begin_now(all.back(), way, local_memory);
  }
  stop_polling();
  job_.end(copier.value());
  for (const registered_region& each : all) of(owner).deregister(copier, each);
}

}  // namespace
}  // namespace nacre::transport::conformance
