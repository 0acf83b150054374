// SPDX-License-Identifier: Apache-2.0
// Ranks that stopped waiting for the answer to their first call, after the launcher had completed its handshake.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "join/launch/control_server.hpp"
#include "join/launch/job_credentials.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/net/call.hpp"
#include "join/net/wait.hpp"

namespace nacre::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds long_enough{60};

/// A launcher that is polled while a rank does something.
class served_launcher {
 public:
  template <class Action>
  void while_rank(Action does) {
    std::atomic<bool> is_over{false};
    std::thread rank([&] {
      does();
      is_over = true;
    });
    while (!is_over) {
      net::wait_until(host_.descriptor(), false, steady_clock::now() + milliseconds(10));
      host_.poll(steady_clock::now(), reports);
    }
    rank.join();
  }
  [[nodiscard]] job_credentials credentials() const {
    return {.rank = rank_id(0), .size = 1, .ranks_on_host = 1, .control_address = host_.address(), .secret = secret_};
  }
  [[nodiscard]] std::unique_ptr<launcher_connection> called() {
    std::unique_ptr<launcher_connection> launcher;
    while_rank(
        [&] { launcher = std::make_unique<launcher_connection>(credentials(), steady_clock::now() + long_enough); });
    return launcher;
  }
  [[nodiscard]] net::peer_candidate connected_with_half_a_message() {
    std::optional<net::peer_candidate> peer_candidate;
    while_rank([&] {
      auto answer = net::call(*net::address::parse(host_.address()),
                              {.secret = secret_, .local = control_identity(0, 1), .expected = rank_id(1)},
                              steady_clock::now() + long_enough);
      ASSERT_TRUE(answer);
      control_stream words;
      words.push(joined{.address = "127.0.0.1:1"});
      EXPECT_EQ(net::send_some(answer->socket.get(), words.outgoing().data(), 2), 2);
      peer_candidate = std::move(*answer);
    });
    return std::move(peer_candidate.value());
  }
  void join(launcher_connection& launcher) {
    while_rank([&] {
      EXPECT_EQ(launcher.exchange_addresses("127.0.0.1:4711", steady_clock::now() + long_enough).size(), 1U);
    });
  }

  std::vector<report> reports;

 private:
  job_secret secret_ = job_secret::generate();
  control_server host_{1, secret_};
};

TEST(control_server, takes_the_second_call_of_a_rank_whose_first_was_not_seen_to_end) {
  served_launcher launcher;
  const auto given_up = launcher.connected_with_half_a_message();
  const auto again = launcher.called();
  launcher.join(*again);
  ASSERT_EQ(launcher.reports.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<joined>(launcher.reports[0].event));
}

TEST(control_server, lets_a_rank_that_hung_up_before_it_joined_call_again) {
  served_launcher launcher;
  launcher.called().reset();
  launcher.join(*launcher.called());
  ASSERT_FALSE(launcher.reports.empty());
  EXPECT_TRUE(std::holds_alternative<joined>(launcher.reports[0].event)) << "that it hung up is no news";
}

TEST(launcher_connection, calls_again_as_long_as_it_may_when_the_launcher_hangs_up) {
  constexpr int hung_up = 6;
  net::unique_fd listening_socket = net::listen_at(net::address::any_port_of_loopback());
  const job_credentials credentials{.rank = rank_id(0),
                                    .size = 1,
                                    .ranks_on_host = 1,
                                    .control_address = net::address::of_own_end(listening_socket.get()).text(),
                                    .secret = job_secret::generate()};
  std::atomic<bool> is_over{false};
  std::thread rank([&] {
    EXPECT_NO_THROW(launcher_connection(credentials, steady_clock::now() + long_enough));
    is_over = true;
  });
  for (int calls = 0; calls < hung_up && !is_over;) {
    net::wait_until(listening_socket.get(), false, steady_clock::now() + milliseconds(10));
    if (net::accept_from(listening_socket.get())) ++calls;
  }
  net::listener launcher(std::move(listening_socket), credentials.secret, control_identity(1, 1),
                         net::refusal_log("launcher"));
  std::vector<net::peer_candidate> admitted;
  while (!is_over) {
    net::wait_until(launcher.descriptor(), false, steady_clock::now() + milliseconds(10));
    launcher.poll(steady_clock::now(), admitted);
  }
  rank.join();
  EXPECT_EQ(admitted.size(), 1U);
}

}  // namespace
}  // namespace nacre::launch
