// SPDX-License-Identifier: Apache-2.0
// The finish function of an emulation: it sees each node once, at the end, wherever its block has gone.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

namespace {

using namespace std::chrono_literals;
using nacre::emulated_node;

struct passes {
  std::uint64_t count = 0;
};

void pass_on(emulated_node& node, std::uint32_t rounds) {
  node.state<passes>().count += static_cast<std::uint64_t>(node.at().x) + 1;
  if (rounds == 0) return;
  node.send<pass_on>({(node.at().x + 1) % node.machine().grid.x, node.at().y, 0}, rounds - 1);
}
void start_all(emulated_node& node) { node.add_task<pass_on>(39u); }

const nacre::emulated_machine small{.grid = {6, 5, 1}, .hop = 5ns, .turn = 75ns, .handler = 1us};

nacre::config with_ranks(const char* transport, const char* ranks, const char* balancer) {
  nacre::config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", ranks);
  configuration.set("workers", "2");
  configuration.set("balancer", balancer);
  return configuration;
}

TEST(finish_of_an_emulation, sees_every_node_once_at_the_end_on_the_rank_of_its_block) {
  for (const char* transport : {"inproc", "sim"}) {
    EXPECT_EQ(nacre::run(with_ranks(transport, "3", "rotate"),
                         [](nacre::runtime& rt) {
                           std::atomic<std::uint64_t> nodes{0}, sum{0}, late{0};
                           const auto finish = [&](emulated_node& node) {
                             ++nodes;
                             sum += node.state<passes>().count;
                             late += static_cast<std::uint64_t>(node.now().count());
                           };
                           const auto done =
                               nacre::emulate(rt, small, start_all,
                                              {.blocks = 7, .finish = finish, .moves = nacre::emulated_moves::always});
                           const auto total = [&](std::uint64_t part) { return rt.all_reduce(part, std::plus<>{}); };
                           EXPECT_EQ(total(nodes), 30u);
                           // Each of 30 chains of 40 visits counts columns 1 to 6 in turn, from another one on.
                           EXPECT_EQ(total(sum), 40u * 5 * (1 + 2 + 3 + 4 + 5 + 6));
                           EXPECT_EQ(total(late), 30 * static_cast<std::uint64_t>(done.time().count()));
                         }),
              0);
  }
}

TEST(finish_of_an_emulation, only_reads_and_says_where_it_has_thrown) {
  struct wrong {
    void (*finish)(emulated_node&);
    std::string_view text;
  };
  const wrong all[]{
      {[](emulated_node& node) {
         node.send<pass_on>({0, 0, 0}, 1u);
       },
       "the emulation has ended"},
      {[](emulated_node& node) { node.after<pass_on>(1us, 1u); }, "the emulation has ended"},
      {[](emulated_node& node) { node.charge(1ns); }, "the emulation has ended"},
      {[](emulated_node& node) {
         if (node.at().x == 4) throw std::runtime_error("a wrong sum");
       },
       "a wrong sum"},
  };
  for (const wrong& one : all) {
    EXPECT_EQ(
        nacre::run(with_ranks("inproc", "2", "none"),
                   [&](nacre::runtime& rt) {
                     try {
                       static_cast<void>(nacre::emulate(rt, small, start_all, {.blocks = 4, .finish = one.finish}));
                       ADD_FAILURE() << "no error";
                     } catch (const nacre::usage_error& error) {
                       const std::string_view text = error.what();
                       EXPECT_NE(text.find(one.text), text.npos) << text;
                       EXPECT_NE(text.find("the finish function"), text.npos) << text;
                     }
                   }),
        0);
  }
}

TEST(finish_of_an_emulation, is_given_by_all_ranks_or_by_none) {
  EXPECT_EQ(nacre::run(with_ranks("inproc", "2", "none"),
                       [](nacre::runtime& rt) {
                         nacre::emulation_options options;
                         if (rt.rank().value() == 1) options.finish = [](emulated_node&) {};
                         EXPECT_THROW(static_cast<void>(nacre::emulate(rt, small, start_all, options)),
                                      nacre::usage_error);
                       }),
            0);
}

}  // namespace
