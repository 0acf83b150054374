// SPDX-License-Identifier: Apache-2.0
// What a program keeps for longer than its job: results that are there can be taken, nothing waits, nothing crashes.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

constexpr double for_ever = std::numeric_limits<double>::infinity();

int answer(int n) { return n + 1; }
int fails() { throw std::out_of_range("too far"); }
buffer large_one() { return buffer(400000); }
void nothing() {}

class outliving : public testing::TestWithParam<const char*> {
 protected:
  void run_job(const std::function<void(runtime&)>& main) { run_on_two_ranks(GetParam(), main); }
  /// Runs `main` on rank 0.
  void run_on_first(const std::function<void(runtime&)>& main) {
    run_job([&](runtime& rt) {
      if (rt.rank().value() == 0) main(rt);
    });
  }
};

TEST_P(outliving, a_result_that_is_there_is_taken_after_the_job) {
  std::optional<future<int>> site, remote, waited, failed, all_value;
  std::optional<future<buffer>> large;
  std::optional<future<std::vector<int>>> both;
  std::optional<future<std::size_t>> first;
  std::optional<future<void>> slept;
  run_on_first([&](runtime& rt) {
    site = rt.call<answer>(rank_id{0}, 1);
    remote = rt.call<answer>(rank_id{1}, 2);
    waited = rt.call<answer>(rank_id{1}, 3);
    waited->wait();
    failed = rt.call<fails>(rank_id{1});
    large = rt.call<large_one>(rank_id{1});
    slept = rt.sleep(0.001);
    std::vector<future<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(rt.call<answer>(rank_id{1}, i));
    both = when_all(std::move(parts));
    first = when_any(*site, rt.sleep(for_ever));
  });
  EXPECT_TRUE(site->ready());
  EXPECT_TRUE(remote->ready());
  remote->cancel();
  EXPECT_TRUE(remote->wait_for(1));
  remote->wait();
  EXPECT_EQ(remote->get(), 3);
  EXPECT_EQ(waited->get(), 4);
  EXPECT_THROW(failed->get(), call_error);
  EXPECT_EQ(large->get().size(), 400000U);
  slept->get();
  EXPECT_EQ(both->get(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(first->get(), 0U);
  EXPECT_EQ(site->get(), 2);
}

TEST_P(outliving, a_result_that_never_came_is_an_error_and_ends_quietly) {
  std::optional<future<void>> slept, both;
  std::optional<future<std::size_t>> first;
  run_on_first([&](runtime& rt) {
    slept = rt.sleep(for_ever);
    std::vector<future<void>> parts;
    parts.push_back(rt.sleep(for_ever));
    parts.push_back(rt.sleep(0));
    both = when_all(std::move(parts));
    first = when_any(*slept, rt.sleep(for_ever));
  });
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(slept->ready());
    EXPECT_FALSE(both->ready());
    EXPECT_FALSE(first->ready());
    EXPECT_THROW(both->wait(), usage_error);
    EXPECT_THROW(static_cast<void>(both->wait_for(1)), usage_error);
    EXPECT_THROW(both->get(), usage_error);
    EXPECT_THROW(both->cancel(), usage_error);
    EXPECT_THROW(static_cast<void>(first->wait_until(0)), usage_error);
    run_on_first([](runtime& rt) { EXPECT_EQ(rt.call<answer>(rank_id{1}, 1).get(), 2); });  // where the first job was
  }
  first.reset();
  EXPECT_THROW(slept->wait(), usage_error);
}

TEST_P(outliving, futures_of_an_ended_job_can_be_joined) {
  std::optional<future<int>> one, two;
  std::optional<future<void>> never;
  run_on_first([&](runtime& rt) {
    one = rt.call<answer>(rank_id{1}, 1);
    two = rt.call<answer>(rank_id{1}, 2);
    never = rt.sleep(for_ever);
  });
  EXPECT_EQ(when_any(*never, *one).get(), 1U);
  EXPECT_EQ(when_all(std::move(*one), std::move(*two)).get(), std::make_tuple(2, 3));
  auto joined = when_any(*never);
  EXPECT_THROW(joined.get(), usage_error);
}

TEST_P(outliving, a_message_that_was_sent_later_is_not_taken_back_after_the_job) {
  std::optional<delayed_message> sent, taken_back;
  run_on_first([&](runtime& rt) {
    sent = rt.after<nothing>(0.001);
    taken_back = rt.after<nothing>(3600);
    EXPECT_TRUE(taken_back->cancel());
  });
  EXPECT_FALSE(sent->cancel());
  EXPECT_FALSE(taken_back->cancel());
  sent.reset();
}

TEST_P(outliving, a_container_after_its_job_ends_its_elements) {
  std::unique_ptr<map<std::uint64_t, std::string>> words[2];
  std::unique_ptr<bag<int>> things[2];
  std::unique_ptr<counting_set<std::string>> counts[2];
  run_job([&](runtime& rt) {
    const std::uint32_t rank = rt.rank().value();
    words[rank] = std::make_unique<map<std::uint64_t, std::string>>(rt);
    things[rank] = std::make_unique<bag<int>>(rt);
    counts[rank] = std::make_unique<counting_set<std::string>>(rt);
    for (std::uint64_t i = 0; i < 100; ++i) {
      words[rank]->insert(i, "word");
      things[rank]->insert(7);
      counts[rank]->insert(std::to_string(i));
    }
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_THROW(words[rank]->insert(1, "late"), usage_error);
    EXPECT_THROW(static_cast<void>(words[rank]->size()), usage_error);
    EXPECT_THROW(static_cast<void>(words[rank]->local_size()), usage_error);
    EXPECT_THROW(words[rank]->for_all([](const std::uint64_t&, std::string&) {}), usage_error);
    EXPECT_THROW(words[rank]->clear(), usage_error);
    EXPECT_THROW(things[rank]->insert(1), usage_error);
    EXPECT_THROW(static_cast<void>(things[rank]->size()), usage_error);
    EXPECT_THROW(counts[rank]->insert("late"), usage_error);
    EXPECT_THROW(static_cast<void>(words[rank]->handle()), usage_error);
  }
  const auto moved = std::move(*words[0]);
  words[0].reset();
}

struct cell {
  int n = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(n);
  }
};

TEST_P(outliving, a_container_that_ends_where_main_must_not_wait_stays_until_the_job_ends) {
  testing::internal::CaptureStderr();
  run_job([&](runtime& rt) {
    const auto p = rt.create<cell>();
    auto inside_lock = std::make_unique<map<std::uint64_t, int>>(rt);
    auto inside_iteration = std::make_unique<map<std::uint64_t, int>>(rt);
    map<std::uint64_t, int> table(rt);
    for (std::uint64_t i = 0; i < 100; ++i) {
      inside_lock->insert(i, 1);
      table.insert(i, 1);
    }
    rt.with_exclusive(p, [&](cell&) { inside_lock.reset(); });
    rt.wait_quiescence();
    bool any = false;
    table.for_all([&](const std::uint64_t&, int&) {
      if (!std::exchange(any, true)) inside_iteration.reset();
    });
    EXPECT_EQ(table.size(), 100U);
    rt.with_exclusive(p, [&](cell& c) { c.n = 1; });
  });
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("ends where main must not wait"), std::string::npos) << told;
}

INSTANTIATE_TEST_SUITE_P(over, outliving, testing::Values("inproc", "sim"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace nacre::tests
