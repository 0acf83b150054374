// SPDX-License-Identifier: Apache-2.0
// Traces of ranks on two hosts (tools/hosts_here.sh) tell one story, whatever the clocks of the hosts say.
//
// The executable is its own rank program: `trace_mp_test --as-rank travel`.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "trace/trace_log.hpp"
#include "two_hosts.hpp"

namespace {

using namespace nacre::tests;

/// Moves on to the next rank again and again.
struct traveller {
  std::uint32_t left = 0;
  void go_on(nacre::context& ctx, std::uint32_t times) {
    left = times;
    if (left == 0) return;
    ctx.migrate(ctx.self<traveller>(), nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()});
    ctx.send<&traveller::go_on>(ctx.self<traveller>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};

constexpr std::uint32_t journeys = 200;

void travel(nacre::runtime& rt) {
  rt.send<&traveller::go_on>(rt.create<traveller>(), journeys);
  rt.wait_quiescence();
}

/// Both ends of what moves from one rank to another; by object and epoch.
struct journey {
  std::int64_t left = 0, came = 0;
  std::uint32_t source = 0, target = 0;
  int ends = 0;
};
std::map<std::pair<std::uint64_t, std::uint64_t>, journey> journeys_of(const nacre::trace::trace_log& log) {
  using nacre::trace::event_kind;
  std::map<std::pair<std::uint64_t, std::uint64_t>, journey> all;
  for (std::size_t index = 0; index < log.tracks().size(); ++index) {
    log.visit(index, [&](std::span<const nacre::trace::event> events) {
      for (const nacre::trace::event& each : events) {
        if (each.kind != event_kind::depart && each.kind != event_kind::arrive) continue;
        journey& journey = all[{each.a, each.c}];
        ++journey.ends;
        (each.kind == event_kind::depart ? journey.left : journey.came) = each.ns;
        (each.kind == event_kind::depart ? journey.source : journey.target) = log.tracks()[index].rank;
      }
    });
  }
  return all;
}

/// Whose monotonic clock is two hours ahead of that of the other host; empty: they are one clock.
class traced_on_two_hosts : public testing::TestWithParam<const char*> {};

TEST_P(traced_on_two_hosts, nothing_comes_before_it_has_left_whatever_their_clocks_say) {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const std::string ahead = GetParam(), hours = "unshare --time --monotonic 7200";
  if (!ahead.empty() && std::system("unshare --time true 2>/dev/null") != 0) {
    GTEST_SKIP() << "there can be no namespace of times here: it needs root, Linux 5.6 and util-linux 2.36";
  }
  std::string folder = testing::TempDir() + "nacre_two_hosts_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string program = "[ \"$(hostname)\" = \"" + ahead + "\" ] && exec " + hours + " \"$@\"; exec \"$@\"";
  std::vector<std::string> all{"sh", "-c", program, "sh"};
  for (const std::string& each : own_program(
           "travel", {"--nacre.transport=tcp", "--nacre.balancer=none", "--nacre.trace=" + folder + "/trace"})) {
    all.push_back(each);
  }
  const outcome got = on_two_hosts("run \"$@\"", all);
  if (code_of(got) == 0) {
    const nacre::trace::trace_log log(folder + "/trace");
    EXPECT_EQ(log.notes().size(), ahead.empty() ? 0U : 1U) << "what is not sure is told";
    EXPECT_EQ(log.clock_error_ns() == 0, ahead.empty()) << "who shares a clock need not ask";
    EXPECT_LT(log.end_ns(), 3'600'000'000'000) << "not the hours between the clocks";
    EXPECT_LT(log.clock_error_ns(), log.end_ns());
    const auto moves = journeys_of(log);
    EXPECT_EQ(moves.size(), 4 * journeys);
    int between_hosts = 0;
    for (const auto& [move, each] : moves) {
      ASSERT_EQ(each.ends, 2);
      EXPECT_GE(each.came, each.left - log.clock_error_ns()) << "from rank " << each.source << " to " << each.target;
      between_hosts += each.source / 2 != each.target / 2 ? 1 : 0;
    }
    EXPECT_GT(between_hosts, static_cast<int>(journeys));
  }
  std::filesystem::remove_all(folder);
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

INSTANTIATE_TEST_SUITE_P(clocks, traced_on_two_hosts, testing::Values("", "a", "b"), [](const auto& each) {
  return each.param[0] == 0 ? std::string("shared") : std::string(each.param) + "_ahead";
});

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return nacre::run(argc, argv, travel);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
