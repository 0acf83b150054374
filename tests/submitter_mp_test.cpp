// SPDX-License-Identifier: Apache-2.0
// Threads of the program hand work to jobs of several processes: all of it runs; a rank that is killed leaves no hang.
//
// NACRE_SUBMITTER_SENDS=1000000 in the environment: so many sends of each thread, and a tenth as many calls.
// The executable is its own rank program: `submitter_mp_test --as-rank` and `--as-victims`.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

constexpr std::size_t threads_max = 32;  // of all ranks

/// Notes whether the numbers of each thread come in order.
struct ledger {
  std::array<std::uint64_t, threads_max> last{};
  std::uint64_t entries = 0, disorders = 0;

  void add(std::size_t thread, std::uint64_t number) {
    if (number <= last.at(thread)) ++disorders;
    last.at(thread) = number;
    ++entries;
  }
  std::uint64_t enter(std::size_t thread, std::uint64_t number) {
    add(thread, number);
    return number;
  }
  std::uint64_t count() const { return entries; }
  std::uint64_t wrong() const { return disorders; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(last, entries, disorders);
  }
};
using books = std::vector<mobile_ptr<ledger>>;

constexpr std::size_t threads = 4;
constexpr std::uint64_t rounds = 4;

std::uint64_t sends_of_a_thread() {
  const char* const asked = std::getenv("NACRE_SUBMITTER_SENDS");
  const std::uint64_t all = asked != nullptr ? std::strtoull(asked, nullptr, 10) : sanitized ? 4'000 : 40'000;
  return std::max<std::uint64_t>(all / rounds, 10);
}

/// Numbers of one thread to one book grow, whether they are sent or called.
void hand_in(const submitter& door, const books& all, std::size_t thread, std::uint64_t first, std::uint64_t sends) {
  outside_future<std::uint64_t> outside_future;
  std::uint64_t number_before = 0;
  for (std::uint64_t each = 0; each < sends; ++each) {
    const auto book = all[(each / 10 + thread) % all.size()];
    door.send<&ledger::add>(book, thread, first + 2 * each);
    if (each % 10 != 9) continue;
    auto called = door.call<&ledger::enter>(book, thread, first + 2 * each + 1);
    if (outside_future.valid() && outside_future.get() != number_before)
      throw std::runtime_error("a call has another one's result");
    if (each % 20 == 9) {
      outside_future = std::move(called);  // two are under way
      number_before = first + 2 * each + 1;
    } else if (called.get() != first + 2 * each + 1) {
      throw std::runtime_error("a call has a wrong result");
    }
  }
  if (outside_future.valid()) static_cast<void>(outside_future.get());
}

/// Each round opens doors, and closes them.
int act_as_rank(int argc, char** argv) {
  return run(argc, argv, [](runtime& rt) {
    const books all = rt.all_gather(rt.create<ledger>());
    const std::uint64_t sends = sends_of_a_thread();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::vector<std::thread> others;
      for (std::size_t each = 0; each < threads; ++each) {
        others.emplace_back([&, door = rt.submitter(), thread = threads * rt.rank().value() + each]() mutable {
          hand_in(door, all, thread, 1 + 2 * round * sends, sends);
          door.close();
        });
      }
      if (round % 2 == 0) rt.migrate(all[rt.rank().value()], rank_id((rt.rank().value() + 1) % rt.size()));
      rt.wait_quiescence();
      for (std::thread& each : others) each.join();
      const std::uint64_t local_count = rt.call<&ledger::count>(all[rt.rank().value()]).get();
      const std::uint64_t counted = rt.all_reduce(local_count, std::plus<>{});
      const std::uint64_t wanted = (round + 1) * rt.size() * threads * (sends + sends / 10);
      if (counted != wanted) throw std::runtime_error(std::to_string(counted) + " of " + std::to_string(wanted));
    }
    if (rt.call<&ledger::wrong>(all[rt.rank().value()]).get() != 0) throw std::runtime_error("out of order");
    rt.barrier();
    if (rt.rank().value() == 0) std::puts("all have run in order");
  });
}

/// Rank 1 is killed while threads of all ranks send, call and wait.
int act_as_victims(int argc, char** argv) {
  return run(argc, argv, [](runtime& rt) {
    const books all = rt.all_gather(rt.create<ledger>());
    std::vector<std::thread> others;
    for (std::size_t each = 0; each < threads; ++each) {
      others.emplace_back([&, door = rt.submitter(), thread = threads * rt.rank().value() + each] {
        try {
          for (std::uint64_t number = 1;; ++number) {
            if (number == 500 && thread == threads) std::raise(SIGKILL);
            door.send<&ledger::add>(all[number % all.size()], thread, number);
            static_cast<void>(door.call<&ledger::count>(all[(number + thread) % all.size()]).get());
          }
        } catch (const std::exception&) {  // an error is as good an end of a wait as the end of the process
        }
      });
    }
    rt.wait_quiescence();
    for (std::thread& each : others) each.join();
  });
}

class submitters_of_jobs : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static std::vector<std::string> command(const char* role, int ranks) {
    std::vector<std::string> words;
    if (std::string_view(GetParam()) != "inproc") words = start_of(GetParam(), ranks).words;
    words.insert(words.end(), {own_path(), role, "--nacre.workers=2"});
    if (std::string_view(GetParam()) == "inproc") words.push_back("--nacre.ranks=" + std::to_string(ranks));
    return words;
  }
  void SetUp() override {
    if (std::string_view(GetParam()) == "inproc") return;
    const bench::launcher start = start_of(GetParam(), 3);
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;
    ignore_foreign_leaks(GetParam());
  }
};

TEST_P(submitters_of_jobs, run_all_that_threads_of_all_ranks_hand_in_though_they_close_and_open_again) {
  const outcome ran = launched(command("--as-rank", 3)).end(seconds{24 * 3600});  // as slow as it likes
  EXPECT_EQ(code_of(ran), 0) << ran.errors;
  EXPECT_NE(ran.output.find("all have run in order"), std::string::npos) << ran.output << ran.errors;
}

TEST_P(submitters_of_jobs, end_with_the_job_when_a_rank_is_killed) {
  if (std::string_view(GetParam()) == "inproc") GTEST_SKIP() << "all ranks are one process";
  for (int times = 0; times < (sanitized ? 1 : 5); ++times) {
    const outcome ran = launched(command("--as-victims", 3)).end();
    EXPECT_EQ(code_of(ran), 128 + SIGKILL) << ran.errors;
    EXPECT_NE(ran.errors.find("rank 1 was killed by signal 9"), std::string::npos) << ran.errors;
    EXPECT_EQ(ran.errors.find("terminate called"), std::string::npos) << ran.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(over, submitters_of_jobs, testing::Values("inproc", "shm", "tcp", "auto", "udp", "ucx"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--as-rank") == 0) return nacre::tests::act_as_rank(argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--as-victims") == 0) return nacre::tests::act_as_victims(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
