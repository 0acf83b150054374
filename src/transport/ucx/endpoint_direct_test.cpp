// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint over a scripted UCX: copies between the memories of two ranks, and peers that violate the protocol.
#include "transport/ucx/endpoint_test_kit.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nacre::transport::ucx {
namespace {

constexpr std::uint32_t bulk = 2;  // its channel
constexpr std::size_t size = 100;

class copies_over_played_ucx : public end_over_played_ucx {
 protected:
  copies_over_played_ucx() {
    wait_for_peers();
    ucx_.sends_are = outcome::pending;
  }

  direct_memory& direct() { return *end_->direct(); }
  std::uint32_t register_region(copy_way way) {
    const auto region = direct().register_region(rank_id(1), memory_, way);
    EXPECT_TRUE(region);
    return static_cast<std::uint32_t>(region->id);
  }
  copy_outcome copy(std::uint64_t id, copy_way way, std::uint64_t tag) {
    return direct().copy({.peer = rank_id(1), .region = {.id = id}, .way = way, .local_memory = memory_, .tag = tag});
  }

  /// A peer sends a frame without bytes. Returns the frames that it is sent in answer.
  std::vector<frame_kind> hear(frame_kind kind, std::uint32_t id, std::uint32_t source = 1) {
    ucx_.next.push_back([=](port_callbacks& callbacks) {
      callbacks.arrived(bulk, kind, {.key = source, .source = source, .sequence = id}, {});
    });
    return said(source);
  }
  /// A peer announces so many bytes. Returns their destination.
  port_callbacks::place offer(frame_kind kind, std::uint32_t id, std::size_t bytes, std::uint32_t source = 1) {
    port_callbacks::place place;
    ucx_.next.push_back([&place, kind, id, bytes, source](port_callbacks& callbacks) {
      place = callbacks.place_for(bulk, kind, {.key = source, .source = source, .sequence = id}, bytes, {});
    });
    receive();
    return place;
  }
  /// The frames sent to a peer since the last call.
  std::vector<frame_kind> said(std::uint32_t target = 1) {
    receive();
    std::vector<frame_kind> result;
    for (; told_ < ucx_.frames.size(); ++told_) {
      EXPECT_EQ(ucx_.frames[told_].peer, target);
      EXPECT_EQ(ucx_.frames[told_].channel_index, bulk);
      result.push_back(ucx_.frames[told_].kind);
    }
    return result;
  }
  void end(std::uint64_t request_id, bool well = true) {
    ucx_.next.push_back([=](port_callbacks& callbacks) { callbacks.ended(request_id, well); });
  }
  /// Whether a message to rank 1 is passed to UCX.
  bool is_present() {
    receive();
    const std::size_t previous = ucx_.frames.size();
    submit(1, 1, 8, channel::application);
    return ucx_.frames.size() > previous;
  }
  /// Rank 1 has sent its shutdown.
  void leave() {
    say(1, shutdown);
    end_->wait(std::chrono::nanoseconds::zero());
    receive();
    EXPECT_FALSE(is_present());
  }

  /// The tags of the copies that have ended; negative: the copy has failed.
  std::vector<int> ends() {
    receive();
    std::vector<int> result;
    while (const auto each = direct().take_ended()) {
      result.push_back(each->well ? static_cast<int>(each->tag) : -static_cast<int>(each->tag));
    }
    return result;
  }

  using kinds = std::vector<frame_kind>;
  using tags = std::vector<int>;
  std::vector<std::byte> memory_ = std::vector<std::byte>(size, std::byte{1});
  std::size_t told_ = 0;
};

TEST_F(copies_over_played_ucx, a_region_leaves_for_the_peer_that_it_was_registered_for_and_once) {
  const std::uint32_t id = register_region(copy_way::from_region), other = register_region(copy_way::to_region);
  EXPECT_EQ(hear(frame_kind::take, id, 2), kinds{frame_kind::refused}) << "registered for rank 1";
  EXPECT_EQ(hear(frame_kind::take, other), kinds{frame_kind::refused}) << "registered to be written to";
  EXPECT_EQ(hear(frame_kind::take, 77), kinds{frame_kind::refused}) << "never registered";
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::taken});
  EXPECT_EQ(ucx_.frames.back().bytes, size);
  EXPECT_EQ(ucx_.frames.back().frame_stamp.sequence, id);
  const std::uint64_t leaving = ucx_.frames.back().request_id.value();
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::refused}) << "it is leaving";
  end(leaving);
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::refused}) << "it has left";
  direct().deregister(rank_id(1), {.id = id});
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::refused}) << "it was deregistered";
}

TEST_F(copies_over_played_ucx, bytes_that_are_given_land_in_a_region_registered_for_that_if_they_fit_and_once) {
  const std::uint32_t id = register_region(copy_way::to_region), other = register_region(copy_way::from_region);
  const auto refused = [&](std::uint32_t as, std::size_t bytes, std::uint32_t step = 1) {
    const bool nowhere = offer(frame_kind::given, as, bytes, step).address == nullptr;
    return said(step) == kinds{frame_kind::refused} && nowhere;
  };
  EXPECT_TRUE(refused(id, size, 2)) << "registered for rank 1";
  EXPECT_TRUE(refused(other, size)) << "registered to be read";
  EXPECT_TRUE(refused(77, size)) << "never registered";
  EXPECT_TRUE(refused(id, size + 1));
  EXPECT_TRUE(refused(id, size - 1));
  const port_callbacks::place place = offer(frame_kind::given, id, size);
  EXPECT_EQ(place.address, memory_.data());
  EXPECT_FALSE(place.later);
  EXPECT_TRUE(refused(id, size)) << "it is being written to";
  EXPECT_EQ(said(), kinds{}) << "nothing has landed yet";
  end(place.request_id);
  EXPECT_EQ(said(), kinds{frame_kind::landed});
  EXPECT_TRUE(refused(id, size)) << "it was written to";
}

TEST_F(copies_over_played_ucx, a_copy_out_of_a_region_has_ended_when_its_bytes_are_there) {
  EXPECT_EQ(copy(5, copy_way::from_region, 9), copy_outcome::pending);
  EXPECT_EQ(said(), kinds{frame_kind::take});
  EXPECT_EQ(ucx_.frames.back().frame_stamp.sequence, 5U);
  EXPECT_EQ(offer(frame_kind::taken, 6, size).address, nullptr) << "not asked for";
  EXPECT_EQ(offer(frame_kind::taken, 5, size, 2).address, nullptr) << "not asked of rank 2";
  EXPECT_EQ(hear(frame_kind::landed, 5), kinds{});
  EXPECT_EQ(ends(), tags{}) << "nothing was given";
  const port_callbacks::place place = offer(frame_kind::taken, 5, size);
  EXPECT_EQ(place.address, memory_.data());
  EXPECT_EQ(offer(frame_kind::taken, 5, size).address, nullptr) << "twice";
  EXPECT_EQ(hear(frame_kind::refused, 5), kinds{});
  EXPECT_EQ(ends(), tags{}) << "UCX is writing";
  end(place.request_id);
  EXPECT_EQ(ends(), tags{9});
}

TEST_F(copies_over_played_ucx, a_copy_fails_when_the_owner_refuses_it_or_its_length_differs) {
  copy(5, copy_way::from_region, 9);
  hear(frame_kind::refused, 5, 1);
  EXPECT_EQ(ends(), tags{-9});
  int tag = 10;
  for (const std::size_t bytes : {size - 1, size + 1}) {
    copy(5, copy_way::from_region, static_cast<std::uint64_t>(tag));
    EXPECT_EQ(offer(frame_kind::taken, 5, bytes).address, nullptr);
    EXPECT_EQ(ends(), tags{-tag++});
  }
}

TEST_F(copies_over_played_ucx, a_copy_into_a_region_has_ended_when_it_has_left_and_landed) {
  int tag = 20;
  for (const bool well : {true, false}) {
    for (const bool leaves_first : {true, false}) {
      EXPECT_EQ(copy(5, copy_way::to_region, static_cast<std::uint64_t>(++tag)), copy_outcome::pending);
      EXPECT_EQ(said(), kinds{frame_kind::given});
      EXPECT_EQ(ucx_.frames.back().bytes, size);
      EXPECT_EQ(offer(frame_kind::taken, 5, size).address, nullptr) << "it is not read";
      const std::uint64_t leaving = ucx_.frames.back().request_id.value();
      if (leaves_first) end(leaving);
      EXPECT_EQ(ends(), tags{});
      hear(well ? frame_kind::landed : frame_kind::refused, 5);
      if (!leaves_first) {
        EXPECT_EQ(ends(), tags{}) << "UCX still reads";
        end(leaving);
      }
      EXPECT_EQ(ends(), tags{well ? tag : -tag});
    }
  }
}

TEST_F(copies_over_played_ucx, bytes_that_come_unannounced_are_checked_as_those_that_are_announced) {
  copy(5, copy_way::from_region, 9);
  const auto arrive = [&](std::uint32_t id, std::size_t bytes) {
    ucx_.next.push_back([=](port_callbacks& callbacks) {
      callbacks.arrived(bulk, frame_kind::taken, {.key = 1, .source = 1, .sequence = id},
                        std::vector(bytes, std::byte{6}));
    });
  };
  arrive(6, size);
  EXPECT_EQ(ends(), tags{});
  EXPECT_EQ(memory_, std::vector(size, std::byte{1}));
  arrive(5, size);
  EXPECT_EQ(ends(), tags{9});
  EXPECT_EQ(memory_, std::vector(size, std::byte{6}));
}

TEST_F(copies_over_played_ucx, names_that_are_none_or_in_use_fail_at_once) {
  EXPECT_EQ(copy((std::uint64_t{1} << 32) + 5, copy_way::from_region, 1), copy_outcome::failed);
  EXPECT_EQ(copy(5, copy_way::from_region, 2), copy_outcome::pending);
  EXPECT_EQ(copy(5, copy_way::from_region, 3), copy_outcome::failed);
  hear(frame_kind::refused, 5);
  EXPECT_EQ(ends(), tags{-2});
}

TEST_F(copies_over_played_ucx, deregister_returns_when_nothing_reads_or_writes_the_memory_any_more) {
  for (const copy_way way : {copy_way::from_region, copy_way::to_region}) {
    const std::uint32_t id = register_region(way);
    bool is_over = false;
    const std::uint64_t request_id = way == copy_way::to_region ? offer(frame_kind::given, id, size).request_id
                                     : hear(frame_kind::take, id) == kinds{frame_kind::taken}
                                         ? ucx_.frames.back().request_id.value()
                                         : 0;
    ucx_.next.push_back(
        [&is_over, request_id](port_callbacks& callbacks) { is_over = true, callbacks.ended(request_id, true); });
    direct().deregister(rank_id(1), {.id = id});
    EXPECT_TRUE(is_over);
  }
}

TEST_F(copies_over_played_ucx, stop_returns_when_nothing_reads_or_writes_the_memory_any_more) {
  copy(5, copy_way::from_region, 1);
  const std::uint64_t landing = offer(frame_kind::taken, 5, size).request_id;
  copy(6, copy_way::to_region, 2);
  const std::uint64_t leaving = ucx_.frames.back().request_id.value();
  int excess = 0;
  ucx_.next.push_back([&excess, landing](port_callbacks& callbacks) { ++excess, callbacks.ended(landing, true); });
  direct().stop(1);
  EXPECT_EQ(excess, 1);
  EXPECT_EQ(ends(), tags{1});
  ucx_.next.push_back([&excess, leaving](port_callbacks& callbacks) { ++excess, callbacks.ended(leaving, true); });
  direct().stop(2);
  EXPECT_EQ(excess, 2);
  EXPECT_EQ(ends(), tags{}) << "the owner may still say how it went";
  copy(7, copy_way::from_region, 3);
  direct().stop(3);
  EXPECT_EQ(ends(), tags{-3});
  EXPECT_EQ(offer(frame_kind::taken, 7, size).address, nullptr) << "bytes that come too late";
}

TEST_F(copies_over_played_ucx, a_region_that_leaves_at_once_is_used_and_may_be_deregistered) {
  ucx_.sends_are = outcome::done;
  const std::uint32_t id = register_region(copy_way::from_region);
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::taken});
  EXPECT_EQ(hear(frame_kind::take, id), kinds{frame_kind::refused});
  direct().deregister(rank_id(1), {.id = id});
  copy(5, copy_way::to_region, 1);
  hear(frame_kind::landed, 5);
  EXPECT_EQ(ends(), tags{1});
}

TEST_F(copies_over_played_ucx, bytes_that_do_not_leave_end_the_copy_and_all_traffic_with_the_peer) {
  copy(5, copy_way::to_region, 1);
  EXPECT_TRUE(is_present());
  end(ucx_.frames.front().request_id.value(), false);
  EXPECT_EQ(ends(), tags{-1});
  EXPECT_FALSE(is_present());
}

TEST_F(copies_over_played_ucx, bytes_that_do_not_arrive_end_all_traffic_with_the_peer) {
  const std::uint32_t id = register_region(copy_way::to_region);
  const std::uint64_t landing = offer(frame_kind::given, id, size).request_id;
  end(landing, false);
  EXPECT_EQ(said(), kinds{});
  EXPECT_FALSE(is_present());
  direct().deregister(rank_id(1), {.id = id});
}

TEST_F(copies_over_played_ucx, nothing_is_copied_for_a_peer_that_has_left_nor_said_to_it) {
  const std::uint32_t id = register_region(copy_way::from_region);
  leave();
  EXPECT_EQ(copy(5, copy_way::from_region, 1), copy_outcome::failed);
  EXPECT_EQ(hear(frame_kind::take, id), kinds{});
  EXPECT_EQ(hear(frame_kind::take, id), kinds{});
}

TEST_F(copies_over_played_ucx, bytes_are_flushed_before_the_shutdown) {
  ucx_.flushes.clear();
  ucx_.sends_are = outcome::done;
  copy(5, copy_way::to_region, 1);
  end_->close(std::chrono::seconds(30));
  for (const std::uint32_t peer : {1U, 2U}) say(peer, shutdown);  // the endpoint waits for these
  EXPECT_EQ(ucx_.flushes, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, bulk}}));
}

}  // namespace
}  // namespace nacre::transport::ucx
