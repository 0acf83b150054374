// SPDX-License-Identifier: Apache-2.0
// Regions of two ranks over shm, with copies that the kernel holds in the middle.
#include "transport/shm/memory_copies.hpp"

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
#include "transport/shm/process_memory.hpp"

namespace nacre::transport::shm {
namespace {

using bytes = std::vector<std::byte>;

constexpr rank_id owner_rank{0}, copier_rank{1}, bystander{2};
constexpr std::size_t words = 31;

/// Both endpoints, each with a segment. One process plays both.
class region_over_shm : public testing::TestWithParam<copy_way> {
 protected:
  region_over_shm() { make_copier(::getpid()); }
  void make_copier(pid_t process) {
    owner_.emplace(owner_rank.value(), segments_[0], peers(copier_rank, process));
    copier_.emplace(copier_rank.value(), segments_[1], peers(owner_rank, ::getpid()));
  }
  std::vector<shm_memory_copies::local_peer> peers(rank_id other, pid_t process) const {
    std::vector<shm_memory_copies::local_peer> all(3);
    all[other.value()] = {
        .theirs = segments_[other.value()], .number = other.value(), .process = process, .able = true};
    return all;
  }
  registered_region register_region(bytes& bytes) {
    const auto region = owner_->register_region(copier_rank, bytes, GetParam());
    EXPECT_TRUE(region);
    return region.value_or(registered_region{});
  }
  copy_outcome copy(const registered_region& region, bytes& bytes) {
    return copier_->copy({.peer = owner_rank, .region = region, .way = GetParam(), .local_memory = bytes, .tag = 1});
  }
  int system_call() const { return GetParam() == copy_way::from_region ? SYS_process_vm_readv : SYS_process_vm_writev; }

  /// Runs `action` in a thread in which the kernel holds the system call; empty when the kernel cannot.
  template <class Body>
  std::optional<held_calls> start(std::thread& in, int call, Body action) {
    std::promise<std::optional<held_calls>> ready;
    in = std::thread([&ready, call, action] {
      std::optional<held_calls> hold(std::in_place, call, filter_scope::this_thread);
      if (!hold->able()) hold.reset();
      const bool held = hold.has_value();
      ready.set_value(std::move(hold));
      if (held) action();
    });
    return ready.get_future().get();
  }

  std::array<std::shared_ptr<segment>, 3> segments_{make_segment(), make_segment(), make_segment()};
  std::optional<shm_memory_copies> owner_, copier_;

 private:
  static std::shared_ptr<segment> make_segment() {
    return std::make_shared<segment>(segment::create(geometry::fitting(3, geometry::data_bytes_min, 1u << 20)));
  }
};

INSTANTIATE_TEST_SUITE_P(shm, region_over_shm, testing::Values(copy_way::from_region, copy_way::to_region),
                         [](const auto& way) { return way.param == copy_way::from_region ? "read" : "written"; });

TEST_P(region_over_shm, is_not_given_back_while_the_peer_copies) {
  bytes remote(10'000, std::byte{1}), local(10'000, std::byte{2});
  const registered_region region = register_region(remote);
  std::thread peer, owner;
  copy_outcome outcome = copy_outcome::pending;
  auto copy_held = start(peer, system_call(), [&] { outcome = copy(region, local); });
  if (!copy_held) {
    peer.join();
    GTEST_SKIP() << "this kernel does not hold system calls";
  }
  EXPECT_TRUE(copy_held->wait_for_one());
  // A `deregister` that waits for the copy checks now and then, by kill, that the peer is alive. One that does not wait
  // returns without such a call.
  auto question = start(owner, SYS_kill, [&] {
    owner_->deregister(copier_rank, region);
    std::fill(remote.begin(), remote.end(), std::byte{9});
  });
  EXPECT_TRUE(question && question->wait_for_one()) << "deregister has returned in the middle of the copy";
  copy_held->go_on();
  peer.join();
  question.reset();
  owner.join();
  EXPECT_EQ(outcome, copy_outcome::done);
  EXPECT_EQ(local, bytes(10'000, GetParam() == copy_way::from_region ? std::byte{1} : std::byte{2}));
  EXPECT_EQ(remote, bytes(10'000, std::byte{9}));
}

TEST_P(region_over_shm, is_given_back_when_the_process_that_copies_has_died) {
  bytes remote(10'000, std::byte{1}), local(10'000, std::byte{2});
  const registered_region region = register_region(remote);
  pid_t peer = -1;
  std::thread parent;
  auto copy_held = start(parent, system_call(), [&] {
    peer = ::fork();  // the child is held like this thread
    if (peer != 0) return;
    static_cast<void>(copy(region, local));
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
  owner_->deregister(copier_rank, region);
  EXPECT_EQ(remote, bytes(10'000, std::byte{1}));
}

/// The number of the owner is that of a process in which the memory could be copied: this one.
TEST_P(region_over_shm, is_not_copied_when_its_owner_has_ended_and_another_process_has_the_number) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  auto handle = std::make_shared<process_handle>(child);
  EXPECT_TRUE(handle->exists());
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(handle->exists());
  auto to_owner = peers(owner_rank, ::getpid());
  to_owner[owner_rank.value()].handle = handle;
  copier_.emplace(copier_rank.value(), segments_[1], to_owner);
  bytes remote(100, std::byte{1}), local(100, std::byte{2});
  const registered_region region = register_region(remote);
  EXPECT_EQ(copy(region, local), copy_outcome::failed);
  EXPECT_EQ(remote, bytes(100, std::byte{1}));
  owner_->deregister(copier_rank, region);
}

TEST_P(region_over_shm, is_one_of_at_most_so_many_for_a_peer_each_with_an_id_of_its_own) {
  bytes remote(100, std::byte{1}), data(100, std::byte{2});
  std::set<std::uint64_t> names;
  std::vector<registered_region> all;
  for (int round = 0; round < 3; ++round) {
    while (all.size() < words) all.push_back(register_region(remote));
    EXPECT_FALSE(owner_->register_region(copier_rank, remote, GetParam()));
    for (std::size_t i = 0; i < all.size(); i += 2) EXPECT_EQ(copy(all[i], data), copy_outcome::done);
    for (const registered_region& each : all) {
      EXPECT_TRUE(names.insert(each.id).second);
      owner_->deregister(copier_rank, each);
      EXPECT_EQ(copy(each, data), copy_outcome::failed);
    }
    all.clear();
  }
}

TEST_P(region_over_shm, is_copied_once) {
  bytes remote(100, std::byte{1}), local(100, std::byte{2});
  const registered_region region = register_region(remote);
  EXPECT_EQ(copy(region, local), copy_outcome::done);
  EXPECT_EQ(copy(region, local), copy_outcome::failed);
  owner_->deregister(copier_rank, region);
}

TEST_P(region_over_shm, is_found_by_no_forged_name) {
  bytes remote(100, std::byte{1}), local(100, std::byte{2});
  const registered_region region = register_region(remote);
  shm_memory_copies(bystander.value(), segments_[2],
                    peers(owner_rank, ::getpid()));  // its word, which is 1, lies behind the last one
  for (const std::uint64_t id :
       {std::uint64_t{words}, region.id | words, region.id + 1, region.id + 32, std::uint64_t{0}}) {
    EXPECT_EQ(copy({.id = id, .address = region.address}, local), copy_outcome::failed) << id;
  }
  EXPECT_EQ(remote, bytes(100, std::byte{1}));
  EXPECT_EQ(local, bytes(100, std::byte{2}));
  owner_->deregister(copier_rank, region);
}

TEST_P(region_over_shm, is_not_that_of_a_peer_on_another_host) {
  bytes bytes(100, std::byte{2});
  copier_.emplace(copier_rank.value(), segments_[1], std::vector<shm_memory_copies::local_peer>(3));
  EXPECT_EQ(copy({.id = 32, .address = 0}, bytes), copy_outcome::failed);
}

TEST_P(region_over_shm, that_is_no_memory_makes_the_copy_fail_and_no_other_one) {
  bytes local(100, std::byte{2}), remote(100, std::byte{1});
  void* const hole = ::mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  const auto region = owner_->register_region(copier_rank, {static_cast<std::byte*>(hole), local.size()}, GetParam());
  ASSERT_TRUE(region);
  EXPECT_EQ(copy(*region, local), copy_outcome::failed);
  owner_->deregister(copier_rank, *region);
  EXPECT_EQ(local, bytes(100, std::byte{2}));
  EXPECT_TRUE(owner_->reaches(copier_rank));
  EXPECT_EQ(copy(register_region(remote), local), copy_outcome::done);
  ::munmap(hole, page_bytes);
}

TEST_P(region_over_shm, is_registered_no_more_when_the_kernel_has_refused_a_copy) {
  bytes remote(100, std::byte{1}), data(100, std::byte{2});
  const registered_region region = register_region(remote);
  copy_outcome outcome = copy_outcome::pending;
  std::thread([&] {
    ASSERT_TRUE(forbid(system_call(), filter_scope::this_thread));
    outcome = copy(region, data);
  }).join();
  EXPECT_EQ(outcome, copy_outcome::failed);
  EXPECT_FALSE(owner_->reaches(copier_rank));
  EXPECT_FALSE(owner_->register_region(copier_rank, remote, GetParam()));
  owner_->deregister(copier_rank, region);
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
      ASSERT_TRUE(forbid(call, filter_scope::this_thread));
      EXPECT_FALSE(can(7));
    }).join();
  }
}

}  // namespace
}  // namespace nacre::transport::shm
