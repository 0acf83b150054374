// SPDX-License-Identifier: Apache-2.0
// What a simulated rank takes of memory does not depend on how many there are; where there is not enough, a line says
// so.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <ostream>
#include <string>

#include <nacre/nacre.hpp>

#include "rank_search.hpp"
#include "runtime/memory_shortage.hpp"
#include "share.hpp"
#include "steal.hpp"
#include "tree_params.hpp"

namespace {

/// What operator new has given and not got back. A simulation has one thread, and so have these tests.
struct heap {
  std::size_t now = 0;
  std::size_t most = 0;
  std::size_t limit = ~std::size_t{0};
  void* took(void* memory) {
    const std::size_t bytes = malloc_usable_size(memory);
    if (memory == nullptr || now + bytes > limit) {
      std::free(memory);
      if (const std::new_handler handler = std::get_new_handler()) handler();  // which throws
      throw std::bad_alloc();
    }
    now += bytes;
    most = std::max(most, now);
    return memory;
  }
  void gives_back(void* memory) {
    if (memory != nullptr) now -= malloc_usable_size(memory);
    std::free(memory);
  }
};
heap counted;

}  // namespace

void* operator new(std::size_t bytes) { return counted.took(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return counted.took(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}
void operator delete(void* memory) noexcept { counted.gives_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted.gives_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { counted.gives_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { counted.gives_back(memory); }

namespace {

void hear_of_rank(nacre::context&, std::uint64_t) {}

struct job {
  const char* name;
  const char* balancer;
  const char* aggregate;
  std::function<void(nacre::runtime&)> main;
  std::map<std::string, std::string> settings{};
};

void PrintTo(const job& job, std::ostream* stream) { *stream << job.name; }

int run(const job& job, std::uint32_t ranks, std::uint32_t workers = 1) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", workers);
  configuration.set("balancer", job.balancer);
  configuration.set("aggregate", job.aggregate);
  for (const auto& [name, value] : job.settings) configuration.set(name, value);
  return nacre::run(configuration, job.main);
}

/// The most bytes that a rank takes on average while the job runs, machine and network included.
double bytes_of_rank(const job& job, std::uint32_t ranks, std::uint32_t workers = 1) {
  const std::size_t previous = counted.now;
  counted.most = previous;
  EXPECT_EQ(run(job, ranks, workers), 0);
  return static_cast<double>(counted.most - previous) / ranks;
}

class simulated_memory : public testing::TestWithParam<job> {};

TEST_P(simulated_memory, of_a_rank_does_not_grow_with_their_number) {
  constexpr std::uint32_t few = 512, many = 2048;    // powers of two, which fill what grows by doubling alike
  static_cast<void>(bytes_of_rank(GetParam(), 16));  // what is made once for the process
  const double small = bytes_of_rank(GetParam(), few);
  const double large = bytes_of_rank(GetParam(), many);
  RecordProperty("bytes_of_rank", std::to_string(large));
  // Twenty thousand bytes and more: a table of two bytes for each other rank would add a seventh.
  EXPECT_LT(large, small * 1.1) << "bytes for each of " << many << " ranks, and of " << few;
  EXPECT_LT(large, 64'000);
}

const job idle{"idle", "none", "off", [](nacre::runtime& rt) {
                 rt.barrier();
                 static_cast<void>(rt.all_reduce(std::uint64_t{1}, std::plus<>()));
               }};

/// To ranks all over the job, the same number of them in every job.
void talk(nacre::runtime& rt) {
  constexpr std::uint32_t partners = 8;
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t i = 1; i <= partners; ++i) {
      const nacre::rank_id target{(rt.rank().value() + i * (rt.size() / 16 + 1)) % rt.size()};
      rt.send<&hear_of_rank>(target, std::uint64_t{round});
    }
    rt.barrier();
  }
}

void compute(nacre::context& ctx) { ctx.charge(0.02); }

/// One rank works, and the others ask each other for work meanwhile, another one each time.
const job asking{"asking", "steal", "off", [](nacre::runtime& rt) {
                   if (rt.rank().value() == 0) rt.send<&compute>(rt.rank());
                 }};

INSTANTIATE_TEST_SUITE_P(jobs, simulated_memory,
                         testing::Values(idle, job{"talking", "none", "off", &talk},
                                         job{"talking_in_bundles", "none", "on", &talk}),
                         [](const testing::TestParamInfo<job>& selection) {
                           return std::string(selection.param.name);
                         });

TEST(simulated_memory_of_pairs, is_not_taken_by_questions_that_need_no_credit) {
  constexpr std::uint32_t ranks = 512;
  static_cast<void>(bytes_of_rank(asking, 16));  // what is made once for the process
  const double silent = bytes_of_rank(idle, ranks);
  EXPECT_LT(bytes_of_rank(asking, ranks), silent * 1.1) << "bytes for each rank, and where nobody asks";
}

struct worker_object {
  void work(nacre::context& ctx) { ctx.charge(0.001); }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(simulated_memory_of_outputs, is_one_table_on_rank_0) {
  const auto work = [](nacre::runtime& rt) { rt.send<&worker_object::work>(rt.create<worker_object>()); };
  for (const char* const output : {"summary_json", "record_load"}) {
    const std::string path = testing::TempDir() + "nacre_" + output + "_" + std::to_string(::getpid());
    const job told{output, "none", "off", work, {{output, path}}};
    static_cast<void>(bytes_of_rank(told, 16));  // what is made once for the process
    EXPECT_LT(bytes_of_rank(told, 2048), bytes_of_rank(told, 512) * 1.1) << output;
    EXPECT_EQ(std::remove(path.c_str()), 0) << "it was written";
  }
}

/// A tree whose tables take some 700 bytes for each of its depths, and which has few nodes.
uts::rank_search_options narrow_tree(std::uint32_t depth) {
  return {.params = {.type = uts::tree_type::geometric,
                     .shape = uts::tree_shape::linear,
                     .branching = 1,
                     .depth = depth,
                     .seed = 19}};
}

TEST(simulated_memory_of_searches, has_one_tree_for_all_ranks_and_no_table_of_the_others) {
  const auto bytes = [&](auto* search, std::uint32_t ranks, std::uint32_t depth) {
    const auto main = [=](nacre::runtime& rt) { static_cast<void>(search(rt, narrow_tree(depth))); };
    return bytes_of_rank({"search", "none", "off", main}, ranks);
  };
  for (auto* const search : {&uts::search_by_sharing, &uts::search_by_stealing}) {
    static_cast<void>(bytes(search, 16, 4));  // what is made once for the process
    EXPECT_LT(bytes(search, 64, 100), bytes(search, 64, 4) * 1.2);
  }
  EXPECT_LT(bytes(&uts::search_by_sharing, 2048, 4), bytes(&uts::search_by_sharing, 512, 4) * 1.1);
}

TEST(simulated_memory_of_workers, is_foreseen_and_never_too_much_of_it) {
  constexpr std::uint32_t ranks = 256, many = 33;
  constexpr double stack = 8192;  // of main, which the heap does not have: two pages
  const auto least = [](std::uint32_t workers) {
    return static_cast<double>(nacre::least_memory_of({.count = ranks, .workers = workers})) / ranks;
  };
  static_cast<void>(bytes_of_rank(idle, 16));  // what is made once for the process
  const double one = bytes_of_rank(idle, ranks), all = bytes_of_rank(idle, ranks, many);
  RecordProperty("bytes_of_rank", std::to_string(one));
  RecordProperty("bytes_of_worker", std::to_string((all - one) / (many - 1)));
  EXPECT_LT(least(1), one + stack);
  EXPECT_GT(least(1), (one + stack) / 2);
  EXPECT_LT(least(many) - least(1), all - one);
  EXPECT_GT(least(many) - least(1), (all - one) / 2);
}

TEST(simulated_memory_of_workers, is_refused_only_where_more_is_needed_than_there_is) {
  const nacre::simulated_ranks ranks{.count = 1000, .workers = 200};
  const std::uint64_t least = nacre::least_memory_of(ranks);
  nacre::expect_memory_for(ranks, least);
  nacre::expect_memory_for(ranks, std::nullopt);
  EXPECT_THROW(nacre::expect_memory_for(ranks, least - 1), nacre::setup_error);
}

TEST(simulated_memory_used_up, ends_the_job_with_a_line_wherever_it_is_missed) {
  constexpr std::uint32_t ranks = 128;
  static_cast<void>(bytes_of_rank(asking, ranks));  // what is made once for the process
  const double all = bytes_of_rank(asking, ranks) * ranks;
  for (int percent = 10; percent < 100; percent += 3) {
    EXPECT_EXIT(
        {
          counted.limit = counted.now + static_cast<std::size_t>(all * percent / 100);
          std::_Exit(run(asking, ranks));
        },
        testing::ExitedWithCode(1), "^nacre: no memory is left for 128 simulated ranks .*--nacre.ranks")
        << percent << " of 100 parts are there";
  }
}

TEST(simulated_memory_used_up, is_told_alike_when_a_main_misses_it) {
  const job greedy{"greedy", "none", "off", [](nacre::runtime& rt) {
                     rt.barrier();
                     if (rt.rank().value() == 1) throw std::bad_alloc();
                     rt.barrier();
                   }};
  EXPECT_EXIT(std::_Exit(run(greedy, 3)), testing::ExitedWithCode(1),
              "^nacre: no memory is left for 3 simulated ranks ");
}

}  // namespace
