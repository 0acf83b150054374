// SPDX-License-Identifier: Apache-2.0
// Messages that a lying peer sends to a search by messages end the job with a line that says what was wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "share.hpp"
#include "steal.hpp"

namespace uts {
namespace {

constexpr nacre::rank_id victim{0};

struct forgery {
  const char* name;
  search_result (*search)(nacre::runtime&, const rank_search_options&);
  void (*send)(nacre::runtime&);  // by the liar, before it searches as it should
  const char* refusal;            // a regular expression
  std::uint32_t liar = 1;
};
void PrintTo(const forgery& f, std::ostream* out) { *out << f.name; }

/// Rank 0 of three, while it has all the work.
constexpr forgery forgeries[] = {
    {"steal_work", search_by_stealing,
     [](auto& rt) { rt.template send<&stealing::on_work>(as_work, victim, search()); },
     "rank 1 sends work that nobody asks it for"},
    {"steal_refusal", search_by_stealing, [](auto& rt) { rt.template send<&stealing::on_refusal>(as_control, victim); },
     "rank 1 sends a refusal of what nobody asks it for"},
    {"steal_second_request", search_by_stealing,
     [](auto& rt) {
       for (int i = 0; i < 2; ++i) rt.template send<&stealing::on_request>(as_control, victim, true);
     },
     "rank 1 sends a second request"},
    {"steal_token", search_by_stealing,
     [](auto& rt) { rt.template send<&stealing::on_token>(as_control, victim, nacre::ring_token{}); },
     "rank 1 sends a token that it does not have"},
    {"steal_go_on", search_by_stealing, [](auto& rt) { rt.template send<&stealing::go_on>(victim); },
     "rank 1 sends a message that a rank sends to itself only"},
    {"steal_begin", search_by_stealing, [](auto& rt) { rt.template send<&stealing::begin>(victim); },
     "rank 1 sends a message that a rank sends to itself only"},
    {"share_work", search_by_sharing,
     [](auto& rt) { rt.template send<&sharing::on_work>(as_work, victim, std::uint64_t{0}, 0.0, search()); },
     "rank 1 sends work that nobody asks it for"},
    {"share_work_of_no_manager", search_by_sharing,
     [](auto& rt) { rt.template send<&sharing::on_work>(as_work, nacre::rank_id{2}, std::uint64_t{0}, 0.0, search()); },
     "rank 2: .*rank 1 sends work that nobody asks it for"},
    {"share_work_of_the_manager", search_by_sharing,
     [](auto& rt) { rt.template send<&sharing::on_work>(as_work, nacre::rank_id{2}, std::uint64_t{0}, 0.0, search()); },
     "rank 2: .*rank 0 sends work that nobody asks it for", 0},
    {"share_second_request", search_by_sharing,
     [](auto& rt) {
       for (int i = 0; i < 9; ++i) rt.template send<&sharing::on_request>(as_control, victim, std::uint64_t{0});
     },
     "rank 1 sends a second request"},
    {"share_release_to_a_worker", search_by_sharing,
     [](auto& rt) { rt.template send<&sharing::on_release>(as_work, nacre::rank_id{2}, search()); },
     "rank 2: .*rank 1 sends a worker's message, but not as a worker to the manager"},
    {"share_lie_about_releases", search_by_sharing,
     [](auto& rt) { rt.template send<&sharing::on_release>(as_work, victim, search()); },
     "the search stops before its end: a worker has not released what it says"},
    {"share_go_on", search_by_sharing, [](auto& rt) { rt.template send<&sharing::go_on>(victim); },
     "rank 1 sends a message that a rank sends to itself only"},
    {"share_begin", search_by_sharing, [](auto& rt) { rt.template send<&sharing::begin>(victim); },
     "rank 1 sends a message that a rank sends to itself only"},
};

int run_three_ranks(const std::function<void(nacre::runtime&)>& main) {
  nacre::config machine;
  machine.set("transport", "sim");
  machine.set("ranks", "3");
  return nacre::run(machine, main);
}

class forged : public testing::TestWithParam<forgery> {};

TEST_P(forged, message_is_refused_with_the_reason) {
  const rank_search_options options{
      .params = {.type = tree_type::geometric, .shape = tree_shape::fixed, .depth = 6, .seed = 19}};
  const auto lie = [&](nacre::runtime& rt) {
    if (rt.rank().value() == GetParam().liar) GetParam().send(rt);
    static_cast<void>(GetParam().search(rt, options));
  };
  EXPECT_EXIT(run_three_ranks(lie), testing::ExitedWithCode(1), GetParam().refusal);
}

TEST_P(forged, message_is_refused_where_nothing_is_searched) {
  const auto lie = [&](nacre::runtime& rt) {
    if (rt.rank().value() == GetParam().liar) GetParam().send(rt);
    rt.barrier();
  };
  EXPECT_EXIT(run_three_ranks(lie), testing::ExitedWithCode(1), "rank [01] sends a message");
}

INSTANTIATE_TEST_SUITE_P(each, forged, testing::ValuesIn(forgeries),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace uts
