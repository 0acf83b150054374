// SPDX-License-Identifier: Apache-2.0
// The agents that the launcher accepts, and their reports.
#include "tool/hosts/agent_connections.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/net/call.hpp"
#include "join/net/wait.hpp"

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds patience{30};

/// A launcher with one host, and the reports of its agents.
class launcher {
 public:
  std::optional<net::peer_candidate> be_called() {
    std::optional<net::peer_candidate> agent;
    std::atomic<bool> is_over{false};
    std::thread caller([&] {
      auto answer =
          net::call(*net::address::parse(connections_.address()),
                    {.secret = connections_.secret(), .local = launch::control_identity(0, 1), .expected = rank_id(1)},
                    steady_clock::now() + patience);
      if (answer) agent = std::move(*answer);
      is_over = true;
    });
    while (!is_over) poll();
    caller.join();
    return agent;
  }
  void poll() {
    net::wait_until(connections_.descriptor(), false, steady_clock::now() + milliseconds(10));
    connections_.poll(steady_clock::now(), reports);
  }
  void hear_one_more() {
    const std::size_t previous = reports.size();
    for (const auto end = steady_clock::now() + patience; reports.size() == previous && steady_clock::now() < end;)
      poll();
  }

  std::vector<agent_report> reports;

 private:
  agent_connections connections_{1, net::listen_at(net::address::any_port_of_loopback())};
};

void say_done(const net::peer_candidate& peer_candidate) {
  host_stream words;
  words.push(host_done{});
  EXPECT_GT(net::send_some(peer_candidate.socket.get(), words.outgoing().data(), words.outgoing().size()), 0);
}

void expect_to_hear_another_call(launcher& launcher_under_test) {
  const auto again = launcher_under_test.be_called();
  ASSERT_TRUE(again);
  say_done(*again);
  launcher_under_test.hear_one_more();
  ASSERT_EQ(launcher_under_test.reports.size(), 1U);
  EXPECT_TRUE(launcher_under_test.reports[0].message &&
              std::holds_alternative<host_done>(*launcher_under_test.reports[0].message));
}

TEST(agent_connections, let_an_agent_that_hung_up_before_its_first_word_call_again) {
  launcher launcher;
  ASSERT_TRUE(launcher.be_called());  // the agent hangs up at once
  expect_to_hear_another_call(launcher);
}

TEST(agent_connections, hear_an_agent_that_called_again_before_its_first_call_was_seen_to_end) {
  launcher launcher;
  const auto given_up = launcher.be_called();
  ASSERT_TRUE(given_up);
  expect_to_hear_another_call(launcher);
}

TEST(agent_connections, refuse_another_agent_of_a_host_whose_agent_was_heard) {
  launcher launcher_under_test;
  auto agent = launcher_under_test.be_called();
  ASSERT_TRUE(agent);
  say_done(*agent);
  launcher_under_test.hear_one_more();
  const auto other = launcher_under_test.be_called();
  ASSERT_TRUE(other) << "it has the secret, and hears later that it is not wanted";
  say_done(*other);
  agent.reset();
  launcher_under_test.hear_one_more();
  ASSERT_EQ(launcher_under_test.reports.size(), 2U);
  EXPECT_FALSE(launcher_under_test.reports[1].message) << "the end of the first, not a word of the other";
}

TEST(agent_connections, tell_of_the_end_of_an_agent_that_was_heard) {
  launcher launcher_under_test;
  auto agent = launcher_under_test.be_called();
  ASSERT_TRUE(agent);
  say_done(*agent);
  launcher_under_test.hear_one_more();
  agent.reset();
  launcher_under_test.hear_one_more();
  ASSERT_EQ(launcher_under_test.reports.size(), 2U);
  EXPECT_FALSE(launcher_under_test.reports[1].message);
}

}  // namespace
}  // namespace nacre::tool
