// SPDX-License-Identifier: Apache-2.0
// Modules of several ranks, driven by hand: windows, early messages, ends, timers, and whatever peers may send.
#include <nacre/rng.hpp>

#include "backplane/extension/extension_space.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backplane/backplane_test_kit.hpp"
#include "backplane/extension/extension_registry.hpp"
#include "base/sanitized.hpp"

namespace nacre {
namespace {

struct hand_driven_ranks;

/// The link of one rank: what it sends is kept until the test delivers it.
class hand_link final : public extension_link {
 public:
  hand_link(hand_driven_ranks& all, rank_id self) : all_(all), self_(self) {}
  void send_control(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool has_datagrams(rank_id) const noexcept override { return apart; }
  bool send_datagram(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return 1200; }
  void send_handled(rank_id target, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams) override;
  void send_command(rank_id target, const extension_command& command, std::span<const std::byte> bytes) override;
  void send_answer(const extension_request& request, bool failed, std::span<const std::byte> bytes) override;
  void note_deferred() override { ++units; }
  void note_answered() override { --units; }
  void charge(double) override {}
  [[nodiscard]] double charged() const override { return 0; }
  void end_job(const std::string& reason) override { ends.push_back(reason); }

  int units = 0;
  bool apart = false;                                 // datagrams travel as such
  std::vector<std::pair<bool, std::string>> answers;  // to programs: whether failed, and the text
  std::vector<std::string> ends;                      // of the job: the reasons

 private:
  hand_driven_ranks& all_;
  rank_id self_;
};

struct hand_driven_ranks {
  explicit hand_driven_ranks(std::size_t memory = 1 << 20, std::chrono::nanoseconds patience = {}) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      links.push_back(std::make_unique<hand_link>(*this, rank_id(rank)));
      spaces.push_back(std::make_unique<extension_space>(
          *links.back(), time,
          extension_space::settings{.rank = rank_id(rank),
                                    .size = 2,
                                    .limits = {.memory_bytes = memory, .patience = patience},
                                    .make_key = [this] {
                                      return extension_key{{random.next() | 1, random.next()}};
                                    }}));
    }
  }
  ~hand_driven_ranks() {
    for (auto& each : spaces) each->end_all();
  }
  void deliver_all() {
    while (!under_way.empty()) {
      const auto next = std::move(under_way.front());
      under_way.erase(under_way.begin());
      next();
    }
  }
  void command(std::uint32_t rank, std::string_view module, std::uint32_t number, const extension_key& key = {}) {
    spaces[rank]->on_command(rank_id{0}, {extension_number(module), key, 0, 7, number}, {});
  }
  manual_clock time;
  rng random{1};
  std::vector<std::function<void()>> under_way;
  std::vector<std::unique_ptr<hand_link>> links;
  std::vector<std::unique_ptr<extension_space>> spaces;
};

using kept_bytes = std::vector<std::byte>;

void hand_link::send_control(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) {
  all_.under_way.push_back([this, target, module, kept = kept_bytes(bytes.begin(), bytes.end())] {
    all_.spaces[target.value()]->on_control(self_, module, kept);
  });
}
bool hand_link::send_datagram(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) {
  const datagram_way way = apart ? datagram_way::datagram : datagram_way::message;
  all_.under_way.push_back([this, target, module, way, kept = kept_bytes(bytes.begin(), bytes.end())] {
    all_.spaces[target.value()]->on_datagram(self_, module, way, kept);
  });
  return true;
}
void hand_link::send_handled(rank_id target, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams) {
  all_.under_way.push_back([this, target, module, controls, datagrams] {
    all_.spaces[target.value()]->on_handled(self_, module, controls, datagrams);
  });
}
void hand_link::send_command(rank_id target, const extension_command& command, std::span<const std::byte> bytes) {
  all_.under_way.push_back([this, target, command, kept = kept_bytes(bytes.begin(), bytes.end())] {
    all_.spaces[target.value()]->on_command(self_, command, kept);
  });
}
void hand_link::send_answer(const extension_request& request, bool failed, std::span<const std::byte> bytes) {
  if (request.asker == 0) {
    answers.emplace_back(failed, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return;
  }
  all_.under_way.push_back([this, request, failed, kept = kept_bytes(bytes.begin(), bytes.end())] {
    all_.spaces[request.source.value()]->on_answer(request.asker, request.number, failed, kept);
  });
}

/// Command N sends N control messages to rank 1; command 0 is deferred; 1'000'000 and more: N - 1'000'000 timers.
class talker final : public extension {
 public:
  explicit talker(std::vector<int>& got) : got_(got) {}
  void on_command(extension_host& host, rank_id, std::uint32_t command, std::span<const std::byte>) override {
    if (command == 0) {
      static_cast<void>(host.defer());
      return;
    }
    for (std::uint32_t i = 0; i < command % 1'000'000; ++i) {
      if (command < 1'000'000) {
        host.control(rank_id{1}, std::as_bytes(std::span(&sent_, 1)));
        ++sent_;
      } else {
        host.set_timer(std::chrono::microseconds(i), false);
      }
    }
  }
  void on_control(extension_host&, rank_id, std::span<const std::byte> bytes) override {
    int number = 0;
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
    got_.push_back(number);
  }
  void on_timer(extension_host&, std::uint64_t) override { got_.push_back(-1); }

 private:
  std::vector<int>& got_;
  int sent_ = 0;
};

attached_extension::parts talker_for(std::vector<int>& got) {
  return {.name = "talker", .code = std::make_unique<talker>(got)};
}

TEST(extension_space, no_more_control_messages_are_under_way_than_the_window_has_and_all_come_in_order) {
  hand_driven_ranks ranks;
  std::vector<int> got[2];
  for (int rank = 0; rank < 2; ++rank) {
    ranks.spaces[static_cast<std::size_t>(rank)]->add(talker_for(got[rank]), extension_access::program);
  }
  ranks.command(0, "talker", 1000);
  EXPECT_EQ(ranks.under_way.size(), peer_windows::controls_max);
  ranks.deliver_all();
  ASSERT_EQ(got[1].size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(got[1][static_cast<std::size_t>(i)], i);
}

TEST(extension_space, control_messages_that_nobody_takes_exhaust_the_heap_of_their_sender) {
  hand_driven_ranks ranks(64 << 10);
  std::vector<int> got;
  ranks.spaces[0]->add(talker_for(got), extension_access::program);
  testing::internal::CaptureStderr();
  ranks.command(0, "talker", 100'000);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("talker is deactivated: on_command has exhausted its heap of 65536 bytes"), std::string::npos);
  EXPECT_TRUE(ranks.links[0]->answers.back().first);
}

/// A command makes it send so many datagrams to rank 1.
struct postman final : extension {
  explicit postman(int& index) : came(index) {}
  void on_command(extension_host& host, rank_id, std::uint32_t count, std::span<const std::byte>) override {
    for (std::uint32_t i = 0; i < count; ++i) static_cast<void>(host.datagram(rank_id{1}, {}));
  }
  void on_datagram(extension_host&, rank_id, std::span<const std::byte>) override { ++came; }
  int& came;
};

attached_extension::parts postman_for(int& came) {
  return {.name = "postman", .code = std::make_unique<postman>(came)};
}

TEST(extension_space, datagrams_that_travel_as_such_have_no_window_and_nobody_is_told_of_them) {
  hand_driven_ranks ranks;
  ranks.links[0]->apart = true;
  int came = 0, never = 0;
  ranks.spaces[0]->add(postman_for(never), extension_access::program);
  const auto deliver_last = [&](int count) {
    for (; count > 0; --count) {
      const auto next = std::move(ranks.under_way.back());
      ranks.under_way.pop_back();
      next();
    }
    EXPECT_TRUE(ranks.under_way.empty()) << "none is answered";
  };
  ranks.command(0, "postman", 100);
  deliver_last(100);  // where no module is
  EXPECT_EQ(ranks.spaces[1]->attach(postman_for(came), extension_access::program), "");
  for (int time = 0; time < 2; ++time) {
    ranks.command(0, "postman", 1000);
    EXPECT_EQ(ranks.under_way.size(), 1000U);
    ranks.under_way.resize(500);  // the others are lost, and open no window
    deliver_last(500);
    EXPECT_EQ(came, 500 * (time + 1));
  }
}

TEST(extension_space, datagrams_that_are_messages_have_a_window) {
  hand_driven_ranks ranks;
  int came[2]{};
  for (const std::size_t index : {0U, 1U})
    ranks.spaces[index]->add(postman_for(came[index]), extension_access::program);
  ranks.command(0, "postman", 1000);
  EXPECT_EQ(ranks.under_way.size(), peer_windows::datagrams_max);
  ranks.deliver_all();
  ranks.command(0, "postman", 1000);
  EXPECT_EQ(ranks.under_way.size(), peer_windows::datagrams_max) << "those that were handled make room";
}

TEST(extension_space, messages_that_come_before_their_module_wait_for_it) {
  hand_driven_ranks ranks;
  std::vector<int> got[2];
  ranks.spaces[0]->add(talker_for(got[0]), extension_access::program);
  ranks.command(0, "talker", 300);
  ranks.deliver_all();
  EXPECT_TRUE(got[1].empty());
  EXPECT_EQ(ranks.spaces[1]->attach(talker_for(got[1]), extension_access::program), "");
  ranks.deliver_all();
  EXPECT_EQ(got[1].size(), 300U);
}

TEST(extension_space, messages_that_come_before_their_module_are_kept_however_many_ranks_and_modules_send_some) {
  constexpr std::uint32_t sources = 40;
  hand_driven_ranks ranks;
  const auto send_early = [&](std::string_view module) {
    for (int i = 0; i < static_cast<int>(peer_windows::controls_max); ++i) {
      for (std::uint32_t source = 0; source < sources; ++source)
        ranks.spaces[1]->on_control(rank_id{source}, extension_number(module), std::as_bytes(std::span(&i, 1)));
    }
  };
  send_early("a name that nobody here has");
  send_early("talker");
  EXPECT_TRUE(ranks.under_way.empty()) << "none is acknowledged before it is handled";
  std::vector<int> got;
  EXPECT_EQ(ranks.spaces[1]->attach(talker_for(got), extension_access::program), "");
  ASSERT_EQ(got.size(), sources * peer_windows::controls_max);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  EXPECT_TRUE(ranks.links[1]->ends.empty());
  ranks.under_way.clear();
}

TEST(extension_space, a_module_that_ends_fails_its_deferred_commands_and_units_come_out_even) {
  hand_driven_ranks ranks;
  std::vector<int> got;
  ranks.spaces[0]->add(talker_for(got), extension_access::program);
  ranks.command(0, "talker", 0);
  ranks.command(0, "talker", 0);
  EXPECT_EQ(ranks.links[0]->units, 2);
  bool gone = false;
  EXPECT_TRUE(ranks.spaces[0]->detach("talker", [&] { gone = true; }));
  EXPECT_FALSE(gone);
  ranks.command(0, "talker", 3);  // comes too late
  EXPECT_TRUE(ranks.links[0]->answers.back().first);
  ranks.spaces[0]->end_all();
  EXPECT_TRUE(gone);
  EXPECT_EQ(ranks.links[0]->units, 0);
  EXPECT_EQ(ranks.links[0]->answers.size(), 3U);
}

TEST(extension_space_death_test, a_module_that_no_thread_can_watch_is_refused_and_the_next_one_is_attached) {
  if (tests::sanitized) GTEST_SKIP() << "sanitizers need memory beside the program's";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, which has no stack to spare
  const auto run = [] {
    hand_driven_ranks ranks(1 << 20, std::chrono::milliseconds(4));
    std::vector<int> got;
    rlimit before{};
    ::getrlimit(RLIMIT_AS, &before);
    const rlimit nothing{.rlim_cur = 1, .rlim_max = before.rlim_max};
    ::setrlimit(RLIMIT_AS, &nothing);
    const std::string refusal = ranks.spaces[0]->attach(talker_for(got), extension_access::program);
    ::setrlimit(RLIMIT_AS, &before);
    if (refusal.find("cannot be attached") == std::string::npos) std::_Exit(1);
    if (!ranks.spaces[0]->attach(talker_for(got), extension_access::program).empty()) std::_Exit(2);
    ranks.command(0, "talker", 1);
    std::_Exit(ranks.under_way.size() == 1 ? 7 : 3);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

TEST(extension_space, coarse_timers_of_a_millisecond_come_at_one_pass) {
  hand_driven_ranks ranks;
  std::vector<int> got;
  ranks.spaces[0]->add(talker_for(got), extension_access::program);
  ranks.time.advance(std::chrono::microseconds(1));
  ranks.command(0, "talker", 1'000'010);
  thread_context thread;
  EXPECT_EQ(ranks.spaces[0]->poll(thread), std::chrono::milliseconds(1));
  EXPECT_TRUE(got.empty());
  ranks.time.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(ranks.spaces[0]->poll(thread), std::chrono::nanoseconds::max());
  EXPECT_EQ(got.size(), 10U);
}

/// Sets timers of delays that are no times, and notes which of them come.
class careless_timer final : public extension {
 public:
  explicit careless_timer(std::vector<int>& got) : got_(got) {}
  void on_command(extension_host& host, rank_id, std::uint32_t, std::span<const std::byte>) override {
    const double endless = std::numeric_limits<double>::infinity();
    for (const double delay : {std::numeric_limits<double>::quiet_NaN(), -1.0, -endless, 1e300, endless})
      host.set_timer(delay, true);
  }
  void on_timer(extension_host&, std::uint64_t timer) override { got_.push_back(static_cast<int>(timer)); }

 private:
  std::vector<int>& got_;
};

TEST(extension_space, timers_of_delays_that_are_no_times_come_at_once_or_never) {
  hand_driven_ranks ranks;
  std::vector<int> got;
  ranks.spaces[0]->add({.name = "careless", .code = std::make_unique<careless_timer>(got)}, extension_access::program);
  ranks.command(0, "careless", 1);
  thread_context thread;
  static_cast<void>(ranks.spaces[0]->poll(thread));
  EXPECT_EQ(got.size(), 3U);
  ranks.time.advance(std::chrono::hours(24));
  static_cast<void>(ranks.spaces[0]->poll(thread));
  EXPECT_EQ(got.size(), 3U);
}

TEST(extension_space, whatever_a_peer_sends_changes_nothing_of_others) {
  hand_driven_ranks ranks;
  std::vector<int> got;
  ranks.spaces[0]->add(talker_for(got), extension_access::key);
  ranks.spaces[0]->on_handled(rank_id{1}, extension_number("talker"), ~0u, ~0u);
  ranks.spaces[0]->on_handled(rank_id{1}, 5, 1, 1);
  ranks.spaces[0]->on_answer(extension_number("talker"), 99, false, {});
  ranks.spaces[0]->on_answer(1, 99, false, {});
  testing::internal::CaptureStderr();
  for (std::uint64_t guess = 0; guess < 1000; ++guess) ranks.command(0, "talker", 1, {{guess, guess}});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_LE(std::count(told.begin(), told.end(), '\n'), 100);  // one that guesses floods nobody
  EXPECT_TRUE(ranks.under_way.empty());
  EXPECT_NE(ranks.links[0]->answers.back().second.find("by key_of_extension"), std::string::npos);  // its public name
  const extension_key key = *ranks.spaces[0]->keys().find("talker");
  ranks.command(0, "talker", 1, key);
  EXPECT_EQ(ranks.under_way.size(), 1U);
  ranks.under_way.clear();
  for (std::uint32_t i = 0; i < extension_space::early_max; ++i) ranks.spaces[0]->on_control(rank_id{1}, 12345, {});
  EXPECT_TRUE(ranks.links[0]->ends.empty());
  for (int i = 0; i < 10; ++i) ranks.spaces[0]->on_control(rank_id{1}, 12345, {});
  ASSERT_EQ(ranks.links[0]->ends.size(), 1U) << "no peer that keeps to its window sends so many";
  EXPECT_NE(ranks.links[0]->ends[0].find("rank 1 has sent more than"), std::string::npos) << ranks.links[0]->ends[0];
  EXPECT_TRUE(ranks.under_way.empty());
}

}  // namespace
}  // namespace nacre
