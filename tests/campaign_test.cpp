// SPDX-License-Identifier: Apache-2.0
// The main net: random programs on random simulated machines, each promise checked by an oracle that sees everything.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <string_view>

#include "base/marks.hpp"
#include "campaign/job.hpp"

namespace {

#if defined(NACRE_SLOW_ASSERTS)
constexpr std::uint64_t seeds_by_default = 150;  // sanitizers and debug builds are slow
#else
constexpr std::uint64_t seeds_by_default = 1500;  // each mark is hit at least nine times
#endif

struct arguments {
  std::uint64_t first = 1;
  std::uint64_t count = seeds_by_default;
  std::uint64_t crowd = 0;  // at least so many messages of each phase go to a few objects, of all mains together
};

arguments& given() {
  static arguments values;
  return values;
}

/// What the process that runs the seeds tells the one that watches it.
struct progress {
  std::uint64_t seed;
  std::uint64_t failed;
  std::uint64_t messages;
  std::uint64_t events;
};

void print_failure(std::uint64_t seed) {
  const auto crowd = static_cast<std::uint32_t>(given().crowd);
  std::fprintf(stderr, "seed %llu failed; to repeat it:\n  campaign_test --seed %llu --seeds 1%s\non: %s\n",
               static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed),
               crowd != 0 ? (" --crowd " + std::to_string(crowd)).c_str() : "",
               campaign::describe_seed(seed, crowd).c_str());
}

/// In a process of its own, because the runtime ends its process when it sees a broken promise itself.
[[noreturn]] void run_seeds(progress& seen, const arguments& range) {
  for (seen.seed = range.first; seen.seed != range.first + range.count; ++seen.seed) {
    const campaign::verdict verdict = campaign::run_seed(seen.seed, static_cast<std::uint32_t>(range.crowd));
    seen.messages += verdict.messages;
    seen.events += verdict.run.events;
    if (verdict.violations.empty()) continue;
    ++seen.failed;
    for (const std::string& each : verdict.violations) std::fprintf(stderr, "  %s\n", each.c_str());
    print_failure(seen.seed);
    if (seen.failed == 5) break;
  }
  std::fflush(nullptr);
  if (seen.failed == 0 && range.count >= 1000) {
    for (const nacre::mark* each : nacre::mark::all()) {
      std::fprintf(stderr, "%10llu %.*s\n", static_cast<unsigned long long>(each->hits()),
                   static_cast<int>(each->name().size()), each->name().data());
      if (each->hits() == 0) ++seen.failed;
    }
  }
  std::exit(seen.failed == 0 ? 0 : 3);
}

TEST(campaign, random_programs_on_random_machines_keep_every_promise_and_take_every_marked_branch) {
  void* const shared = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& seen = *::new (shared) progress{};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) run_seeds(seen, given());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!well && seen.failed == 0) print_failure(seen.seed);
  EXPECT_TRUE(well) << "seed " << seen.seed << ", status " << status;
  std::fprintf(stderr, "%llu seeds, %llu messages, %llu events\n", static_cast<unsigned long long>(given().count),
               static_cast<unsigned long long>(seen.messages), static_cast<unsigned long long>(seen.events));
  munmap(shared, sizeof(progress));
}

TEST(campaign, one_seed_is_one_run_to_the_last_event) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const campaign::verdict once = campaign::run_seed(seed);
    const campaign::verdict again = campaign::run_seed(seed);
    EXPECT_EQ(once.run.trace_hash, again.run.trace_hash) << "seed " << seed;
    EXPECT_EQ(once.run.events, again.run.events) << "seed " << seed;
    EXPECT_EQ(once.run.seconds, again.run.seconds) << "seed " << seed;
  }
}

TEST(campaign, every_seed_is_another_run) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) hashes.insert(campaign::run_seed(seed).run.trace_hash);
  EXPECT_EQ(hashes.size(), 30U);
}

/// Takes `--name value` out of the arguments.
void take(int& argc, char** argv, const char* name, std::uint64_t& value) {
  for (int index = 1; index + 1 < argc; ++index) {
    if (std::strcmp(argv[index], name) != 0) continue;
    value = std::strtoull(argv[index + 1], nullptr, 10);
    for (int rest = index; rest + 2 <= argc; ++rest) argv[rest] = argv[rest + 2];
    argc -= 2;
    return;
  }
}

}  // namespace

/// `--seed N` is the first seed, `--seeds K` how many there are; `--crowd C`: see arguments.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  take(argc, argv, "--seeds", given().count);
  take(argc, argv, "--seed", given().first);
  take(argc, argv, "--crowd", given().crowd);
  return RUN_ALL_TESTS();
}
