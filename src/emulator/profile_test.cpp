// SPDX-License-Identifier: Apache-2.0
// Profiles: time by nodes and bins to the nanosecond, the same file however the emulation is spread, damaged files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

#include "emulator/block_profile.hpp"
#include "emulator/brute_force_emulator.hpp"
#include "emulator/profile_cells.hpp"
#include "emulator/profile_file.hpp"

namespace nacre::emulator {
namespace {

using namespace std::chrono_literals;

class emulated_profile : public testing::Test {
 protected:
  emulated_profile() : path_(testing::TempDir() + "nacre_profile_" + std::to_string(getpid())) {}
  ~emulated_profile() override { std::filesystem::remove(path_); }

  void run_job(const emulated_machine& machine, const std::function<void(emulated_node&)>& start,
               const random_job& job) const {
    config configuration;
    configuration.set("ranks", std::to_string(job.ranks));
    configuration.set("workers", std::to_string(job.workers));
    configuration.set("balancer", job.rotate ? "rotate" : "none");
    configuration.set("transport", job.simulated ? "sim" : "inproc");
    configuration.set("balance.rotate.interval", "5us");
    EXPECT_EQ(
        run(configuration,
            [&](runtime& rt) {
              // Rank 0 alone says where.
              const std::string target = rt.rank().value() == 0 ? path_ : "";
              emulate(
                  rt, machine, start,
                  {.blocks = job.blocks, .critical_path = true, .profile = target, .moves = emulated_moves::always});
            }),
        0);
  }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void expect_refused(const std::string& bytes, const std::string& words) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      profile_input(path_).for_each([](const profile_row&) {});
      ADD_FAILURE() << "accepted, though it " << words;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
    }
  }

  std::string path_;
};

TEST_F(emulated_profile, its_cells_are_numbers_and_runs_of_zeros) {
  cell_encoder cell_encoder;
  std::vector<std::uint64_t> cells{0, 0, 5, 128, 0, ~std::uint64_t{0}, 0, 0, 0};
  for (const std::uint64_t cell : cells) cell_encoder.put(cell);
  cell_encoder.idle(1'000'000);
  const auto bytes = cell_encoder.take();
  EXPECT_LT(bytes.size(), 32U);
  cell_decoder cell_decoder(bytes);
  for (const std::uint64_t cell : cells) EXPECT_EQ(cell_decoder.next(), cell);
  for (int k = 0; k < 1'000'000; ++k) ASSERT_EQ(cell_decoder.next(), 0U);
  EXPECT_TRUE(cell_decoder.ended());
  EXPECT_EQ(cell_decoder.next(), std::nullopt);
}

/// Cells of one width by adding up each nanosecond.
TEST_F(emulated_profile, bins_that_widen_hold_what_bins_of_the_last_width_would) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    constexpr std::uint32_t bins = 8;
    block_profile profile(2, bins);
    std::map<virtual_time, std::uint64_t> each;
    virtual_time last = 0;
    const std::uint64_t handlers = 1 + mix(seed, 1) % 9;
    for (std::uint64_t k = 0; k < handlers; ++k) {
      const auto begin = static_cast<virtual_time>(mix(seed, k, 2) % (1ULL << (mix(seed, k, 3) % 10)));
      const auto end = begin + static_cast<virtual_time>(mix(seed, k, 4) % 40);
      profile.add(1, begin, end);
      for (virtual_time time = begin; time < end; ++time) ++each[time];
      last = std::max(last, end);
    }
    const std::uint32_t shift = profile_shift(last, bins);
    EXPECT_LE(last, virtual_time{bins} << shift);
    EXPECT_TRUE(shift == 0 || last > virtual_time{bins} << (shift - 1));
    const auto encoded = profile.encode(shift);
    cell_decoder cells(encoded);
    for (std::uint32_t bin = 0; bin <= bins; ++bin) EXPECT_EQ(cells.next(), 0U) << "node 0 has done nothing";
    EXPECT_EQ(cells.next(), handlers);
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
      std::uint64_t expected = 0;
      for (const auto& [time, count] : each) expected += static_cast<std::uint64_t>(time >> shift) == bin ? count : 0;
      EXPECT_EQ(cells.next(), expected) << "seed " << seed << ", bin " << bin;
    }
    EXPECT_TRUE(cells.ended());
  }
}

TEST_F(emulated_profile, small_machines_have_many_bins_and_large_ones_few) {
  EXPECT_EQ(profile_bins(1), 256U);
  EXPECT_EQ(profile_bins(34 * 34 * 36), 128U);
  EXPECT_EQ(profile_bins(64 * 64 * 64), 32U);
  EXPECT_EQ(profile_bins(std::uint64_t{1} << 31), 8U);
}

void work(emulated_node& node, std::uint32_t left) {
  node.charge(std::chrono::nanoseconds(100 * node.at().x));
  if (left == 0) return;
  const coordinates& grid = node.machine().grid;
  node.send<work>({(node.at().x + 1) % grid.x, node.at().y, (node.at().z + left) % grid.z}, left - 1);
}

TEST_F(emulated_profile, is_the_same_file_for_any_workers_ranks_blocks_and_balancer) {
  const emulated_machine machine{.grid = {5, 4, 3}, .threads = 2, .hop = 5ns, .turn = 75ns, .handler = 1us};
  const auto start = [](emulated_node& node) {
    if (node.at().y == 2) node.charge(3us);
    if (node.at().y != 1) work(node, 200);
  };
  std::string first;
  for (const random_job& job : {random_job{0, 1, 1, 1, false, false},
                                {0, 1, 3, 7, false, false},
                                {0, 3, 2, 12, true, false},
                                {0, 3, 2, 12, true, true}}) {
    run_job(machine, start, job);
    if (first.empty()) first = content();
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(content(), first);
  }
  const profile_input read(path_);
  const profile_head& head = read.head();
  EXPECT_EQ(head.machine.grid, machine.grid);
  EXPECT_TRUE(head.path.known);
  EXPECT_GE(head.bin_ns * head.bins, static_cast<std::uint64_t>(head.counts.end.count()));
  std::uint64_t messages = 0, hops = 0;
  for (std::size_t k = 0; k < head.counts.by_hops.size(); ++k) {
    messages += head.counts.by_hops[k];
    hops += k * head.counts.by_hops[k];
  }
  EXPECT_EQ(messages, head.counts.messages);
  EXPECT_EQ(hops, head.counts.hops);
  std::uint64_t busy = 0, nodes = 0, handlers = 0;
  read.for_each([&](const profile_row& row) {
    EXPECT_NE(row.node / 5 % 4, 1U) << "that row does not work";
    busy += std::accumulate(row.cells.begin(), row.cells.end(), std::uint64_t{0});
    handlers += row.handlers;
    ++nodes;
  });
  EXPECT_EQ(nodes, 5U * 3 * 3);
  EXPECT_EQ(handlers, head.counts.events + nodes) << "each of them has a start function";
  // A start function's charges are no part of counts().busy: the lines of y = 2 charge 3 us, all others 100 ns each x.
  const std::uint64_t starts = 5 * 3 * 3000 + 3 * 3 * (100 + 200 + 300 + 400);
  EXPECT_EQ(busy, static_cast<std::uint64_t>(head.counts.busy.count()) + starts);
}

TEST_F(emulated_profile, is_refused_where_it_cannot_be_written_on_every_rank_and_before_the_work) {
  config configuration;
  configuration.set("ranks", "2");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto start = [](emulated_node&) { ADD_FAILURE() << "it has begun"; };
                  try {
                    emulate(rt, {.grid = {2, 1, 1}, .hop = 5ns}, start, {.profile = "there/is/no/folder"});
                    ADD_FAILURE() << "no error";
                  } catch (const setup_error& error) {
                    EXPECT_NE(std::string(error.what()).find("there/is/no/folder"), std::string::npos);
                  }
                }),
            0);
}

TEST_F(emulated_profile, shows_nodes_whose_handlers_take_no_time) {
  // Handlers at 5 ns and later cost nothing; without packets nothing ends later than 0 ns.
  for (const std::uint32_t packets : {3U, 0U}) {
    run_job({.grid = {4, 1, 1}, .hop = 5ns},
            [=](emulated_node& node) {
              if (node.at().x == 0 && packets != 0) node.send<work>({0, 0, 0}, packets);
            },
            {0, 1, 1, 1, false, false});
    const profile_input read(path_);
    EXPECT_GE(read.head().bins, 1U);
    std::vector<std::uint64_t> nodes;
    std::uint64_t handlers = 0, busy = 0;
    read.for_each([&](const profile_row& row) {
      nodes.push_back(row.node);
      handlers += row.handlers;
      busy += std::accumulate(row.cells.begin(), row.cells.end(), std::uint64_t{0});
    });
    EXPECT_EQ(nodes.size(), packets == 0 ? 0U : 4U);
    EXPECT_EQ(handlers, packets == 0 ? 0U : read.head().counts.events + 1);
    EXPECT_EQ(busy, static_cast<std::uint64_t>(read.head().counts.busy.count()));
  }
}

void fail_here(emulated_node&) { throw std::runtime_error("no more"); }

TEST_F(emulated_profile, leaves_the_file_as_it_was_when_the_emulation_fails) {
  const auto run_and_catch = [&](bool fails) {
    config configuration;
    EXPECT_EQ(run(configuration,
                  [&](runtime& rt) {
                    const auto start = [&](emulated_node& node) {
                      if (fails) node.send<fail_here>({1, 0, 0});
                    };
                    try {
                      emulate(rt, {.grid = {2, 1, 1}, .hop = 5ns}, start, {.profile = path_});
                      EXPECT_FALSE(fails);
                    } catch (const usage_error&) {
                      EXPECT_TRUE(fails);
                    }
                  }),
              0);
  };
  run_and_catch(true);
  EXPECT_FALSE(std::filesystem::exists(path_)) << "no file of a run that failed";
  const std::string real = path_ + ".real";
  std::ofstream(real) << "of before";
  std::filesystem::create_symlink(real, path_);
  run_and_catch(true);
  EXPECT_EQ(content(), "of before");
  run_and_catch(false);
  EXPECT_TRUE(is_profile(real)) << "what the link leads to is written";
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path())) {
    files += each.path().string().starts_with(path_) ? 1 : 0;
  }
  EXPECT_EQ(files, 2U) << "no other file is left";
  std::filesystem::remove(real);
}

TEST_F(emulated_profile, has_the_title_that_the_program_gives_and_no_other) {
  const auto title_of = [&](const std::string& title) {
    config configuration;
    EXPECT_EQ(
        run(configuration,
            [&](runtime& rt) {
              emulate(rt, {.grid = {2, 1, 1}, .hop = 5ns}, [](emulated_node&) {}, {.profile = path_, .title = title});
            }),
        0);
    return profile_input(path_).head().title;
  };
  EXPECT_EQ(title_of("rings"), "rings");
  EXPECT_EQ(title_of(""), "");
}

TEST_F(emulated_profile, that_is_long_is_read_where_its_head_tells_of_so_many_nodes) {
  constexpr std::size_t nodes = 100, bytes_max = 1000;
  profile_head head;
  head.machine.grid = {nodes, 1, 1};
  head.machine.hop = 5ns;
  head.bins = 8;
  const std::vector<std::uint64_t> handlers(nodes, 1), cells(nodes * head.bins, std::uint64_t{1} << 60);
  profile_output(path_).write(head, {handlers, cells});
  std::size_t rows = 0;
  profile_input(path_, bytes_max).for_each([&](const profile_row&) { ++rows; });
  EXPECT_EQ(rows, nodes);
  head.machine.grid = {1, 1, 1};
  profile_output(path_).write(head, {handlers, cells});
  EXPECT_THROW(profile_input(path_, bytes_max), setup_error);
}

TEST_F(emulated_profile, that_is_damaged_is_refused_by_its_name) {
  run_job({.grid = {3, 1, 1}, .hop = 5ns, .handler = 1us}, [](emulated_node& node) { work(node, 5); },
          {0, 1, 1, 1, false, false});
  const std::string good = content();
  EXPECT_TRUE(is_profile(path_));
  EXPECT_FALSE(is_profile(path_ + ".none"));
  expect_refused("", "is none");
  expect_refused("NACRETRC" + good.substr(8), "is none");
  std::string other = good;
  other[8] = 9;
  expect_refused(other, "another version");
  profile_head of_none;
  of_none.machine.grid = {1, 0, 1};
  of_none.bins = 1;
  profile_output(path_).write(of_none, {});
  expect_refused(content(), "grid has an extent of 0");
  for (std::size_t length = 12; length < good.size(); length += 5) expect_refused(good.substr(0, length), "is damaged");
  expect_refused(good + "x", "is damaged");
  for (std::size_t index = 12; index < good.size(); index += 3) {
    other = good;
    other[index] = static_cast<char>(other[index] ^ 0x11);
    expect_refused(other, "is damaged");
  }
}

}  // namespace
}  // namespace nacre::emulator
