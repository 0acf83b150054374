// SPDX-License-Identifier: Apache-2.0
// Large objects between processes: how much memory their moves take, and what happens when there is no room or no peer.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "scenarios/scenarios.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t large = (sanitized ? 4 : 64) * mib;

constexpr const char* no_measure = "this does not measure";

// ---- a rank

/// Has much to carry, in a vector or a buffer.
template <class Load>
struct freight {
  Load load;
  void fill(std::uint64_t bytes) {
    load = Load(bytes);
    std::memset(load.data(), 7, bytes);
  }
  std::uint64_t count() const {
    const std::span all = std::as_bytes(std::span(load.data(), load.size()));
    return static_cast<std::uint64_t>(std::count(all.begin(), all.end(), std::byte{7}));
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(load);
  }
};

std::uint64_t status_bytes(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

/// The most memory that this process has at one time during `work`, beyond what it has before.
template <class Work>
std::uint64_t growth_during(const Work& work) {
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::uint64_t previous = status_bytes("VmRSS:");
  work();
  return status_bytes("VmHWM:") - std::min(previous, status_bytes("VmHWM:"));
}

/// `leaving` and `arriving`: how much a rank may grow, in objects.
template <class Load>
void move_one(runtime& rt, std::uint64_t leaving, std::uint64_t arriving) {
  constexpr std::uint64_t rest = 6 * mib;  // pools, rings, pages of 2 MiB
  mobile_ptr<freight<Load>> one;
  if (rt.rank().value() == 0) {
    one = rt.create<freight<Load>>();
    rt.call<&freight<Load>::fill>(one, large).get();
  }
  for (const bool back : {false, true, false}) {
    rt.wait_quiescence();
    const std::uint64_t growth = growth_during([&] {
      if (rt.rank().value() == 0) rt.migrate(one, rank_id(back ? 0 : 1)).get();
      rt.wait_quiescence();
    });
    const bool leaves = back == (rt.rank().value() == 1);
    if (sanitized) continue;
    EXPECT_LE(growth, (leaves ? leaving : arriving) * large + rest) << (leaves ? "it leaves" : "it arrives");
    EXPECT_TRUE(leaves || growth >= large - rest) << no_measure;
  }
  if (rt.rank().value() != 0) return;
  EXPECT_EQ(rt.call<&freight<Load>::count>(one).get(), large);
}

std::atomic<std::thread::id> polled_by, unpacked_by;
void note_who_polls() { polled_by = std::this_thread::get_id(); }

/// Notes who unpacks it.
struct noted_freight : freight<std::vector<std::byte>> {
  template <class Archive>
  void serialize(Archive& ar) {
    ar(load);
    if constexpr (Archive::is_loading::value) unpacked_by = std::this_thread::get_id();
  }
};

/// Of this process, wherever it is: what the system reclaims of it goes from one of the two to the other.
std::uint64_t memory_of_its_own() { return status_bytes("RssAnon:") + status_bytes("VmSwap:"); }

/// An object moves from one rank to the other, and when half of it has arrived one of the two processes is killed; at
/// the latest when it is unpacked, whatever the system says of memory.
void die_while_one_moves(runtime& rt, std::uint32_t source, std::uint32_t victim) {
  constexpr std::uint64_t bytes = 96 * mib;
  const std::vector<int> processes = rt.all_gather(static_cast<int>(::getpid()));
  mobile_ptr<noted_freight> one;
  if (rt.rank().value() == source) {
    one = rt.create<noted_freight>();
    rt.call<&noted_freight::fill>(one, bytes).get();
  }
  const std::uint64_t previous = memory_of_its_own();
  rt.barrier();
  if (rt.rank().value() == source) {
    rt.migrate(one, rank_id(1 - source)).get();
  } else {
    while (memory_of_its_own() < previous + bytes / 2 && unpacked_by.load() == std::thread::id()) {
      std::this_thread::yield();
    }
    ::kill(processes[victim], SIGKILL);
  }
  rt.wait_quiescence();
}

/// With a poll loop that has a thread of its own.
void move_beside_the_poll_loop(runtime& rt) {
  for (const std::uint64_t bytes : {std::uint64_t{1000}, mib}) {
    if (rt.rank().value() == 0) {
      const auto one = rt.create<noted_freight>();
      rt.call<&noted_freight::fill>(one, bytes).get();
      rt.send<note_who_polls>(with{.category = category::communication}, rank_id(1));
      rt.migrate(one, rank_id(1)).get();
    }
    rt.wait_quiescence();
    EXPECT_TRUE(rt.rank().value() == 0 || (polled_by == unpacked_by) == (bytes != mib)) << bytes;
    rt.barrier();
  }
}

int act_as_rank(int argc, char** argv) {
  const std::string_view role = argv[2];
  const int code = run(argc, argv, [&](runtime& rt) {
    if (role == "vector") return move_one<std::vector<std::byte>>(rt, 1, 2);
    if (role == "buffer") return move_one<buffer>(rt, 0, 1);
    if (role == "full") return move_large_objects(rt, large / 2);
    if (role == "beside") return move_beside_the_poll_loop(rt);
    die_while_one_moves(rt, role == "sender" ? 1 : 0, 1);
  });
  return code != 0 ? code : (testing::Test::HasFailure() ? 1 : 0);
}

// ---- the jobs

/// A busy machine may not let a rank look at its memory in time: then it says so, and the job runs again.
outcome job(const std::string& transport, const std::vector<std::string>& words) {
  std::vector<std::string> command{"timeout", "-k", "5", "540"};
  const bench::launcher start = start_of(transport, 2);
  command.insert(command.end(), start.words.begin(), start.words.end());
  command.insert(command.end(), {own_path(), "--as-rank"});
  command.insert(command.end(), words.begin(), words.end());
  outcome got = launched(command).end();
  for (int again = 0; again < 3 && (got.output + got.errors).find(no_measure) != std::string::npos; ++again) {
    got = launched(command).end();
  }
  return got;
}

class large_objects : public testing::TestWithParam<const char*> {};

TEST_P(large_objects, take_one_packed_copy_at_either_end) {
  const outcome got = job(GetParam(), {"vector"});
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

TEST_P(large_objects, that_are_buffers_take_no_copy_at_all) {
  const outcome got = job(GetParam(), {"buffer"});
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

TEST_P(large_objects, are_unpacked_by_workers) {
  const outcome got = job(GetParam(), {"beside", "--nacre.progress=dedicated", "--nacre.workers=1"});
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

TEST_P(large_objects, move_where_there_is_room_for_nothing) {
  const std::string transport = GetParam();
  const outcome got = job(transport, {"full", "--nacre." + transport + ".output_max=64KiB",
                                      "--nacre.receive_memory=64KiB", "--nacre.send_memory=64KiB"});
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

TEST_P(large_objects, end_the_job_with_one_line_when_their_sender_or_receiver_dies) {
  for (const char* const name : {"receiver", "sender"}) {
    const outcome got = job(GetParam(), {name});
    EXPECT_GT(code_of(got), 0) << name;
    EXPECT_NE(code_of(got), 124) << name << ": hangs";
    EXPECT_EQ(lines_of(got.errors).size(), 1U) << name << '\n' << got.errors;
    EXPECT_NE(got.errors.find("rank 1 was killed by signal 9"), std::string::npos) << name << '\n' << got.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(over, large_objects, testing::Values("shm", "tcp"),
                         [](const auto& subject) { return std::string(subject.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
