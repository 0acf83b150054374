// SPDX-License-Identifier: Apache-2.0
// Regions of two ranks over shm, with copies that the kernel holds in the middle.
#include "transport/shm/direct.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/shm/held_call_test_kit.hpp"

namespace nacre::transport::shm {
namespace {

using bytes = std::vector<std::byte>;

constexpr rank_id lending{0}, copying{1}, bystander{2};
constexpr std::size_t words = 31;

/// Both ends, each with a segment. One process plays both.
class lent_over_shm : public testing::TestWithParam<copy_way> {
 protected:
  lent_over_shm() { make_copier(::getpid()); }
  void make_copier(pid_t process) {
    lender_.emplace(lending, segments_[0], peers(copying, process));
    copier_.emplace(copying, segments_[1], peers(lending, ::getpid()));
  }
  std::vector<shm_direct::neighbour> peers(rank_id other, pid_t process) const {
    std::vector<shm_direct::neighbour> all(3);
    all[other.value()] = {.theirs = segments_[other.value()], .process = process, .able = true};
    return all;
  }
  lent_memory lend(bytes& what) {
    const auto lent = lender_->lend(copying, what, GetParam());
    EXPECT_TRUE(lent);
    return lent.value_or(lent_memory{});
  }
  copy_outcome copy(const lent_memory& lent, bytes& own) {
    return copier_->copy({.peer = lending, .lent = lent, .way = GetParam(), .own = own, .tag = 1});
  }
  int system_call() const { return GetParam() == copy_way::from_lent ? SYS_process_vm_readv : SYS_process_vm_writev; }

  /// Runs `what` in a thread in which the kernel holds the system call; empty when the kernel cannot.
  template <class Body>
  std::optional<held_calls> start(std::thread& in, int call, Body what) {
    std::promise<std::optional<held_calls>> ready;
    in = std::thread([&ready, call, what] {
      std::optional<held_calls> hold(std::in_place, call, whom::this_thread);
      if (!hold->able()) hold.reset();
      const bool held = hold.has_value();
      ready.set_value(std::move(hold));
      if (held) what();
    });
    return ready.get_future().get();
  }

  std::array<std::shared_ptr<segment>, 3> segments_{make_segment(), make_segment(), make_segment()};
  std::optional<shm_direct> lender_, copier_;

 private:
  static std::shared_ptr<segment> make_segment() {
    return std::make_shared<segment>(segment::create(geometry::fitting(3, geometry::data_bytes_min, 1u << 20)));
  }
};

INSTANTIATE_TEST_SUITE_P(shm, lent_over_shm, testing::Values(copy_way::from_lent, copy_way::to_lent),
                         [](const auto& way) { return way.param == copy_way::from_lent ? "read" : "written"; });

TEST_P(lent_over_shm, is_not_given_back_while_the_peer_copies) {
  bytes there(10'000, std::byte{1}), own(10'000, std::byte{2});
  const lent_memory lent = lend(there);
  std::thread peer, owner;
  copy_outcome how = copy_outcome::pending;
  auto copy_held = start(peer, system_call(), [&] { how = copy(lent, own); });
  if (!copy_held) {
    peer.join();
    GTEST_SKIP() << "this kernel does not hold system calls";
  }
  EXPECT_TRUE(copy_held->wait_for_one());
  // A `recall` that waits for the copy checks now and then, by kill, that the peer is alive. One that does not wait
  // returns without such a call.
  auto question = start(owner, SYS_kill, [&] {
    lender_->recall(copying, lent);
    std::fill(there.begin(), there.end(), std::byte{9});
  });
  EXPECT_TRUE(question && question->wait_for_one()) << "recall has returned in the middle of the copy";
  copy_held->go_on();
  peer.join();
  question.reset();
  owner.join();
  EXPECT_EQ(how, copy_outcome::done);
  EXPECT_EQ(own, bytes(10'000, GetParam() == copy_way::from_lent ? std::byte{1} : std::byte{2}));
  EXPECT_EQ(there, bytes(10'000, std::byte{9}));
}

TEST_P(lent_over_shm, is_given_back_when_the_process_that_copies_has_died) {
  bytes there(10'000, std::byte{1}), own(10'000, std::byte{2});
  const lent_memory lent = lend(there);
  pid_t peer = -1;
  std::thread parent;
  auto copy_held = start(parent, system_call(), [&] {
    peer = ::fork();  // the child is held like this thread
    if (peer != 0) return;
    static_cast<void>(copy(lent, own));
    ::_exit(0);
  });
  if (!copy_held) {
    parent.join();
    GTEST_SKIP() << "this kernel does not hold system calls";
  }
  EXPECT_TRUE(copy_held->wait_for_one());
  parent.join();
  ::kill(peer, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(peer, &status, 0), peer);
  ASSERT_TRUE(WIFSIGNALED(status));
  make_copier(peer);
  lender_->recall(copying, lent);
  EXPECT_EQ(there, bytes(10'000, std::byte{1}));
}

TEST_P(lent_over_shm, is_at_most_so_many_pieces_a_peer_each_under_a_name_of_its_own) {
  bytes there(100, std::byte{1}), own(100, std::byte{2});
  std::set<std::uint64_t> names;
  std::vector<lent_memory> all;
  for (int round = 0; round < 3; ++round) {
    while (all.size() < words) all.push_back(lend(there));
    EXPECT_FALSE(lender_->lend(copying, there, GetParam()));
    for (std::size_t i = 0; i < all.size(); i += 2) EXPECT_EQ(copy(all[i], own), copy_outcome::done);
    for (const lent_memory& each : all) {
      EXPECT_TRUE(names.insert(each.id).second);
      lender_->recall(copying, each);
      EXPECT_EQ(copy(each, own), copy_outcome::failed);
    }
    all.clear();
  }
}

TEST_P(lent_over_shm, is_copied_once) {
  bytes there(100, std::byte{1}), own(100, std::byte{2});
  const lent_memory lent = lend(there);
  EXPECT_EQ(copy(lent, own), copy_outcome::done);
  EXPECT_EQ(copy(lent, own), copy_outcome::failed);
  lender_->recall(copying, lent);
}

TEST_P(lent_over_shm, is_found_by_no_forged_name) {
  bytes there(100, std::byte{1}), own(100, std::byte{2});
  const lent_memory lent = lend(there);
  shm_direct(bystander, segments_[2], peers(lending, ::getpid()));  // its word, which is 1, lies behind the last one
  for (const std::uint64_t id : {std::uint64_t{words}, lent.id | words, lent.id + 1, lent.id + 32, std::uint64_t{0}}) {
    EXPECT_EQ(copy({.id = id, .address = lent.address}, own), copy_outcome::failed) << id;
  }
  EXPECT_EQ(there, bytes(100, std::byte{1}));
  EXPECT_EQ(own, bytes(100, std::byte{2}));
  lender_->recall(copying, lent);
}

TEST_P(lent_over_shm, is_not_that_of_a_peer_on_another_host) {
  bytes own(100, std::byte{2});
  copier_.emplace(copying, segments_[1], std::vector<shm_direct::neighbour>(3));
  EXPECT_EQ(copy({.id = 32, .address = 0}, own), copy_outcome::failed);
}

TEST_P(lent_over_shm, that_is_no_memory_makes_the_copy_fail_and_no_other_one) {
  bytes own(100, std::byte{2}), there(100, std::byte{1});
  void* const hole = ::mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  const auto lent = lender_->lend(copying, {static_cast<std::byte*>(hole), own.size()}, GetParam());
  ASSERT_TRUE(lent);
  EXPECT_EQ(copy(*lent, own), copy_outcome::failed);
  lender_->recall(copying, *lent);
  EXPECT_EQ(own, bytes(100, std::byte{2}));
  EXPECT_TRUE(lender_->reaches(copying));
  EXPECT_EQ(copy(lend(there), own), copy_outcome::done);
  ::munmap(hole, page_bytes);
}

TEST_P(lent_over_shm, is_lent_no_more_when_the_kernel_has_refused_a_copy) {
  bytes there(100, std::byte{1}), own(100, std::byte{2});
  const lent_memory lent = lend(there);
  copy_outcome how = copy_outcome::pending;
  std::thread([&] {
    ASSERT_TRUE(forbid(system_call(), whom::this_thread));
    how = copy(lent, own);
  }).join();
  EXPECT_EQ(how, copy_outcome::failed);
  EXPECT_FALSE(lender_->reaches(copying));
  EXPECT_FALSE(lender_->lend(copying, there, GetParam()));
  lender_->recall(copying, lent);
}

TEST(direct_copies_over_shm, need_that_a_process_lets_itself_be_read_and_written) {
  std::uint64_t word = 7;
  const auto can = [&](std::uint64_t expected) {
    return can_copy_directly(::getpid(), reinterpret_cast<std::uint64_t>(&word), expected);
  };
  EXPECT_TRUE(can(7));
  EXPECT_FALSE(can(8)) << "another process than the one that is meant";
  for (const int call : {SYS_process_vm_readv, SYS_process_vm_writev}) {
    std::thread([&] {
      ASSERT_TRUE(forbid(call, whom::this_thread));
      EXPECT_FALSE(can(7));
    }).join();
  }
}

}  // namespace
}  // namespace nacre::transport::shm
