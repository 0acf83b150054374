// SPDX-License-Identifier: Apache-2.0
// Ranks that share memory, in the middle of whose job the kernel begins to refuse one of them the memory of the others.
//
// The executable is its own rank program: `refusals_mp_test --as-rank HOW`, where HOW is what happens to rank 1.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "transport/shm/forbid_test_kit.hpp"

namespace {

using namespace nacre::tests;

// ---- a rank

constexpr std::uint32_t messages = sanitized ? 120 : 600;  // from each rank to each other one

std::size_t bytes_of(std::uint32_t number) { return number % 3 == 0 ? 8 : 20000 + number * 641 % 180000; }

/// Receives numbered messages from each rank, in order.
struct reader {
  std::vector<std::uint32_t> next;
  std::uint64_t wrong = 0;

  void take(std::uint32_t source, std::uint32_t number, const std::vector<std::uint8_t>& body) {
    next.resize(std::max<std::size_t>(next.size(), source + 1));
    const auto expected = static_cast<std::uint8_t>(number + source);
    const bool right = next[source] == number && body.size() == bytes_of(number) &&
                       std::all_of(body.begin(), body.end(), [&](std::uint8_t each) { return each == expected; });
    if (!right) ++wrong;
    next[source] = number + 1;
  }
  std::uint64_t faults() const { return wrong; }
  std::uint64_t taken() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t each : next) sum += each;
    return sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, wrong);
  }
};

/// Rank 1 may no longer read the memory of others.
void deafen(std::string_view mode) {
  if (mode == "filter" &&
      !nacre::transport::shm::forbid(SYS_process_vm_readv, nacre::transport::shm::filter_scope::this_process)) {
    std::printf("the kernel does not filter\n");
  }
  if (mode == "hide") ::prctl(PR_SET_DUMPABLE, 0);
}

void talk(nacre::runtime& rt, std::string_view mode) {
  const auto object = rt.create<reader>();
  const auto all = rt.all_gather(object);
  for (std::uint32_t number = 0; number < messages; ++number) {
    if (number == messages / 2 && rt.rank().value() == 1) deafen(mode);
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      if (nacre::rank_id(rank) == rt.rank()) continue;
      const auto content = static_cast<std::uint8_t>(number + rt.rank().value());
      rt.send<&reader::take>(all[rank], rt.rank().value(), number,
                             std::vector<std::uint8_t>(bytes_of(number), content));
    }
  }
  rt.wait_quiescence();
  std::printf("rank %u: %llu messages, %llu wrong\n", rt.rank().value(),
              static_cast<unsigned long long>(rt.call<&reader::taken>(object).get()),
              static_cast<unsigned long long>(rt.call<&reader::faults>(object).get()));
}

/// Who may do everything may read the memory of whoever hides.
bool give_up_privileges() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

int act_as_rank(int argc, char** argv) {
  if (!give_up_privileges()) return 3;
  return nacre::run(argc, argv, [&](nacre::runtime& rt) { talk(rt, argv[2]); });
}

// ---- the tests

outcome run_ranks(const std::string& mode, const std::vector<std::string>& options) {
  std::vector<std::string> command{"run", "-n", "3", own_path(), "--as-rank", mode, "--nacre.workers=2"};
  command.insert(command.end(), options.begin(), options.end());
  return nacre_command(command);
}

void expect_everything(const outcome& got) {
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
  std::vector<std::string> lines = lines_of(got.output);
  std::sort(lines.begin(), lines.end());
  const std::string all = ": " + std::to_string(2 * messages) + " messages, 0 wrong";
  EXPECT_EQ(lines, (std::vector<std::string>{"rank 0" + all, "rank 1" + all, "rank 2" + all}));
}

bool warns_of(const std::string& line, const std::string& name, const std::string& peer) {
  return line.find("nacre: rank " + name + " may no longer read the memory of rank " + peer +
                   " (operation not permitted)") != std::string::npos;
}

TEST(a_rank_that_may_no_longer_read_its_peers, loses_nothing_and_says_so_once) {
  for (const auto& options : {std::vector<std::string>{}, {"--nacre.shm.ring_bytes=4KiB"}}) {
    const outcome got = run_ranks("filter", options);
    expect_everything(got);
    const std::vector<std::string> lines = lines_of(got.errors);
    ASSERT_EQ(lines.size(), 1U) << got.errors;
    EXPECT_TRUE(warns_of(lines[0], "1", "0") || warns_of(lines[0], "1", "2")) << lines[0];
  }
}

TEST(a_rank_that_hides_its_memory, is_heard_by_all_others_and_each_says_so_once) {
  const outcome got = run_ranks("hide", {});
  expect_everything(got);
  std::vector<std::string> lines = lines_of(got.errors);
  std::sort(lines.begin(), lines.end());
  ASSERT_EQ(lines.size(), 2U) << got.errors;
  EXPECT_TRUE(warns_of(lines[0], "0", "1")) << lines[0];
  EXPECT_TRUE(warns_of(lines[1], "2", "1")) << lines[1];
}

TEST(ranks_that_may_read_each_other, have_nothing_to_say) {
  const outcome got = run_ranks("nothing", {});
  expect_everything(got);
  EXPECT_EQ(got.errors, "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
