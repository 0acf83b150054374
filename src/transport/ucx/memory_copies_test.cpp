// SPDX-License-Identifier: Apache-2.0
// Copies between memories: two endpoints play the protocol against each other, in any order of events.
#include "transport/ucx/memory_copies.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre::transport::ucx {
namespace {

/// Two endpoints, the frames between them, and the bytes that UCX moves for them.
class two_ends {
 public:
  explicit two_ends(std::uint64_t seed) : random_(seed) {}

  /// One random event.
  void step() {
    const auto rank = static_cast<std::uint32_t>(random_.below(2));
    switch (random_.below(8)) {
      case 0:
        return register_and_tell(rank);
      case 1:
        return start(rank);
      case 2:
        return deregister(rank);
      case 3:
        return stop(rank);
      default:
        return move(rank);
    }
  }
  /// Lets all that is under way arrive, and takes the regions back.
  void finish() {
    for (int round = 0; round < 1000; ++round) move(static_cast<std::uint32_t>(round % 2));
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      for (const std::uint32_t id : registered_[rank]) EXPECT_TRUE(ends_[rank].remove_idle_region(id));
      take_ended(rank);
    }
  }
  [[nodiscard]] const std::set<std::uint64_t>& started() const { return started_; }
  [[nodiscard]] const std::set<std::uint64_t>& ended() const { return ended_; }
  [[nodiscard]] int well() const { return well_; }

 private:
  struct offer {
    std::uint32_t id;
    copy_way way;
  };
  /// On its way to the other rank. `bytes`: announced; they leave when they have landed, or are refused.
  struct flying {
    memory_copies::frame frame;
    bool bytes = false;
    bool of_region = false;
  };

  void register_and_tell(std::uint32_t rank) {
    const copy_way way = random_.below(2) == 0 ? copy_way::from_region : copy_way::to_region;
    const std::uint32_t id = ends_[rank].add_region(1 - rank, memory_[rank], way);
    registered_[rank].insert(id);
    offers_[1 - rank].push_back({id, way});
  }
  void start(std::uint32_t rank) {
    if (offers_[rank].empty()) return;
    const offer taken = offers_[rank].front();
    offers_[rank].pop_front();
    const copy_id id{1 - rank, taken.id};
    const direct_copy copy{.peer = rank_id(1 - rank),
                           .region = {.id = taken.id},
                           .way = taken.way,
                           .local_memory = memory_[rank],
                           .tag = ++last_tag_};
    ASSERT_TRUE(ends_[rank].start(id, copy));
    EXPECT_FALSE(ends_[rank].start(id, copy)) << "one copy for each region";
    started_.insert(last_tag_);
    if (taken.way == copy_way::to_region) {
      channel_[rank].push_back({{frame_kind::given, id, memory_[rank]}, true, false});
    }
  }
  void deregister(std::uint32_t rank) {
    if (registered_[rank].empty()) return;
    const std::uint32_t id = *registered_[rank].begin();
    const bool in_use = reads_[rank].contains(id);
    const bool removed = ends_[rank].remove_idle_region(id);
    EXPECT_FALSE(removed && in_use) << "nobody may touch the memory of a region that has been removed";
    if (removed) registered_[rank].erase(id);
  }
  void stop(std::uint32_t rank) {
    if (started_.empty()) return;
    const auto copy = ends_[rank].find(last_tag_ - random_.below(3));
    if (copy) ends_[rank].stop(*copy);
  }
  /// The oldest frame of a rank arrives at the other one; frames that are asked for leave.
  void move(std::uint32_t rank) {
    while (const auto next = ends_[rank].next_frame()) {
      const bool bytes = next->kind == frame_kind::taken;
      if (bytes) reads_[rank].insert(next->copy.id);
      channel_[rank].push_back({*next, bytes, bytes});
    }
    if (!channel_[rank].empty()) {
      const flying first = channel_[rank].front();
      channel_[rank].pop_front();
      arrive(rank, first);
    }
    take_ended(rank);
  }
  void arrive(std::uint32_t source, const flying& flying) {
    memory_copies& memory_copies = ends_[1 - source];
    const copy_id seen_there{source, flying.frame.copy.id};
    if (!flying.bytes) return memory_copies.receive(flying.frame.kind, seen_there);
    if (std::byte* const target = memory_copies.destination(flying.frame.kind, seen_there, flying.frame.bytes.size())) {
      EXPECT_EQ(target, memory_[1 - source].data());
      memory_copies.landed(flying.frame.kind, seen_there, true);
    }
    if (flying.of_region) {
      reads_[source].erase(flying.frame.copy.id);
      ends_[source].region_left(flying.frame.copy);
    } else {
      ends_[source].own_left(flying.frame.copy, true);
    }
  }
  void take_ended(std::uint32_t rank) {
    while (const auto one = ends_[rank].take_ended()) {
      EXPECT_TRUE(ended_.insert(one->tag).second) << "a copy ends once";
      well_ += one->well ? 1 : 0;
    }
  }

  rng random_;
  std::array<memory_copies, 2> ends_;
  std::array<std::vector<std::byte>, 2> memory_{std::vector<std::byte>(8), std::vector<std::byte>(8)};
  std::array<std::deque<offer>, 2> offers_;  // regions that a rank has been told of
  std::array<std::set<std::uint32_t>, 2> registered_, reads_;
  std::array<std::deque<flying>, 2> channel_;  // by sender
  std::set<std::uint64_t> started_, ended_;
  std::uint64_t last_tag_ = 0;
  int well_ = 0;
};

TEST(memory_copies, end_once_each_and_never_touch_a_removed_region_in_whatever_order) {
  int well = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    two_ends job(seed);
    for (int step = 0; step < 60; ++step) job.step();
    job.finish();
    ASSERT_EQ(job.started(), job.ended()) << "seed " << seed;
    well += job.well();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(well, 2000) << "many copies are not disturbed";
}

TEST(memory_copies, of_another_length_than_the_region_are_refused) {
  memory_copies owner;
  std::array<std::byte, 8> memory{};
  const std::uint32_t id = owner.add_region(1, memory, copy_way::to_region);
  EXPECT_EQ(owner.destination(frame_kind::given, {1, id}, 7), nullptr);
  EXPECT_EQ(owner.next_frame()->kind, frame_kind::refused);
  EXPECT_EQ(owner.destination(frame_kind::given, {2, id}, 8), nullptr) << "registered for another peer";
  EXPECT_EQ(owner.destination(frame_kind::given, {1, id}, 8), memory.data());
  EXPECT_FALSE(owner.remove_idle_region(id));
}

}  // namespace
}  // namespace nacre::transport::ucx
