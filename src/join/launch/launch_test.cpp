// SPDX-License-Identifier: Apache-2.0
// How a rank joins its job, and the connection on which launcher and ranks report failures to each other.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/rng.hpp>

#include "join/launch/control_server.hpp"
#include "join/launch/failure.hpp"
#include "join/launch/job_credentials.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/net/call.hpp"
#include "join/net/wait.hpp"

namespace nacre::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{30};

net::time_point soon() { return steady_clock::now() + patience; }

TEST(control_stream, gives_back_the_messages_that_were_pushed_however_the_bytes_are_cut) {
  control_stream out;
  out.push(joined{.address = "127.0.0.1:4711"});
  out.push(roster{.addresses = {"127.0.0.1:1", "127.0.0.1:2"}});
  out.push(lost{.peer = 3, .reason = "closed its connection"});
  out.push(left{});
  out.push(aborted{.peer = std::nullopt, .reason = "no reason"});
  out.push(image_wanted{.signal = 15});
  for (const std::size_t chunk : {1UL, 5UL, 1000UL}) {
    control_stream in;
    std::vector<control_message> messages;
    for (auto rest = out.outgoing(); !rest.empty(); rest = rest.subspan(std::min(chunk, rest.size()))) {
      in.received(rest.first(std::min(chunk, rest.size())));
      for (auto m = in.pop(); m && *m; m = in.pop()) messages.push_back(std::move(**m));
    }
    ASSERT_EQ(messages.size(), 6U);
    EXPECT_EQ(std::get<joined>(messages[0]).address, "127.0.0.1:4711");
    EXPECT_EQ(std::get<roster>(messages[1]).addresses.size(), 2U);
    EXPECT_EQ(std::get<lost>(messages[2]).peer, 3U);
    EXPECT_TRUE(std::holds_alternative<left>(messages[3]));
    EXPECT_EQ(std::get<aborted>(messages[4]).reason, "no reason");
    EXPECT_EQ(std::get<image_wanted>(messages[5]).signal, 15);
  }
}

TEST(control_stream, refuses_a_message_that_is_too_long_or_none_at_all) {
  for (const unsigned char length : {0xff, 0x06}) {
    control_stream in;
    std::vector<std::byte> bytes(12, static_cast<std::byte>(length));
    bytes[1] = bytes[2] = bytes[3] = length == 0x06 ? std::byte{0} : std::byte{0xff};
    in.received(bytes);
    EXPECT_FALSE(in.pop());
  }
}

TEST(control_stream, survives_damaged_bytes) {
  control_stream sample;
  sample.push(roster{.addresses = {"127.0.0.1:1", "127.0.0.1:2"}});
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    rng numbers(seed);
    std::vector<std::byte> bytes(sample.outgoing().begin(), sample.outgoing().end());
    for (int i = 0; i < 3; ++i) bytes[numbers.below(bytes.size())] = static_cast<std::byte>(numbers.next());
    control_stream in;
    in.received(bytes);
    for (auto m = in.pop(); m && *m; m = in.pop()) continue;
  }
}

/// A launcher without processes: the ranks are threads of the test.
class test_launcher {
 public:
  explicit test_launcher(std::uint32_t ranks)
      : secret_(job_secret::generate()), size_(ranks), control_server_(ranks, secret_) {}

  [[nodiscard]] job_credentials credentials(std::uint32_t rank) const {
    return {.rank = rank_id(rank),
            .size = size_,
            .ranks_on_host = size_,
            .control_address = control_server_.address(),
            .secret = secret_};
  }
  [[nodiscard]] control_server& host() noexcept { return control_server_; }

  /// Serves the ranks until `enough` says so.
  template <class Condition>
  void serve_until(Condition enough) {
    const auto deadline = soon();
    while (!enough() && steady_clock::now() < deadline) {
      net::wait_until(control_server_.descriptor(), false, steady_clock::now() + milliseconds(10));
      control_server_.poll(steady_clock::now(), reports);
    }
    EXPECT_TRUE(enough());
  }

  template <class What>
  [[nodiscard]] const report* find(std::uint32_t source) const {
    for (const report& each : reports) {
      if (each.source == rank_id(source) && std::holds_alternative<What>(each.event)) return &each;
    }
    return nullptr;
  }

  std::vector<report> reports;

 private:
  job_secret secret_;
  std::uint32_t size_;
  control_server control_server_;
};

/// Joins all ranks and returns their launcher connections.
std::vector<std::unique_ptr<launcher_connection>> join_all(test_launcher& place, std::uint32_t ranks) {
  std::vector<std::unique_ptr<launcher_connection>> connections(ranks);
  std::atomic<std::uint32_t> complete{0};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      connections[rank] = std::make_unique<launcher_connection>(place.credentials(rank), soon());
      const auto all = connections[rank]->exchange_addresses("127.0.0.1:" + std::to_string(1000 + rank), soon());
      ASSERT_EQ(all.size(), ranks);
      for (std::uint32_t i = 0; i < ranks; ++i) EXPECT_EQ(all[i], "127.0.0.1:" + std::to_string(1000 + i));
      ++complete;
    });
  }
  place.serve_until([&] { return complete == ranks; });
  for (std::thread& each : threads) each.join();
  return connections;
}

TEST(control_server, gives_every_rank_the_addresses_of_all) {
  test_launcher place(5);
  const auto connections = join_all(place, 5);
  for (std::uint32_t rank = 0; rank < 5; ++rank) EXPECT_NE(place.find<joined>(rank), nullptr);
}

TEST(control_server, learns_of_a_lost_peer_and_of_a_rank_that_leaves_or_hangs_up) {
  test_launcher place(3);
  auto connections = join_all(place, 3);
  connections[0]->report_lost(rank_id(2), "closed its connection");
  connections[1]->report_left();
  connections[1].reset();
  connections[2].reset();
  place.serve_until([&] { return place.find<lost>(0) && place.find<left>(1) && place.find<disconnected>(2); });
  EXPECT_EQ(std::get<lost>(place.find<lost>(0)->event).peer, 2U);
  EXPECT_EQ(place.find<disconnected>(1), nullptr) << "who has said that it leaves may go";
}

TEST(control_server, announces_the_end_to_all_and_its_own_disappearance_is_one) {
  auto place = std::make_unique<test_launcher>(2);
  auto connections = join_all(*place, 2);
  place->host().announce({.peer = 1, .reason = "was killed by signal 9 (Killed)"});
  const auto end_of = [](launcher_connection& launcher) {
    std::optional<aborted> abort_report;
    for (const auto deadline = soon(); !abort_report && steady_clock::now() < deadline;
         abort_report = launcher.poll()) {
      net::wait_until(launcher.descriptor(), false, deadline);
    }
    return abort_report;
  };
  for (const auto& launcher : connections) {
    const auto abort_report = end_of(*launcher);
    ASSERT_TRUE(abort_report);
    EXPECT_EQ(abort_report->peer, 1U);
    EXPECT_EQ(abort_report->reason, "was killed by signal 9 (Killed)");
    EXPECT_TRUE(launcher->open());
  }
  place.reset();
  const auto abort_report = end_of(*connections[0]);
  ASSERT_TRUE(abort_report);
  EXPECT_FALSE(abort_report->peer);
  EXPECT_FALSE(connections[0]->open());
  EXPECT_FALSE(connections[0]->poll()) << "told once";
}

TEST(control_server, ends_the_wait_of_a_rank_that_joins_a_job_which_is_over) {
  test_launcher place(2);
  place.host().announce({.peer = 1, .reason = "exited with code 3"});
  std::atomic<bool> is_over{false};
  std::thread late([&] {
    launcher_connection launcher(place.credentials(0), soon());
    try {
      static_cast<void>(launcher.exchange_addresses("127.0.0.1:1", soon()));
      ADD_FAILURE() << "there is nobody to meet";
    } catch (const job_aborted& error) {
      EXPECT_EQ(std::string(error.what()), "the launcher has ended the job: rank 1 exited with code 3");
    }
    is_over = true;
  });
  place.serve_until([&] { return is_over.load(); });
  late.join();
}

TEST(control_server, refuses_a_proof_that_was_made_for_a_peer) {
  test_launcher place(2);
  std::atomic<bool> is_over{false};
  std::thread confused([&] {
    peer_identity as_peer;
    as_peer.rank = rank_id(1);
    as_peer.size = 2;
    const job_credentials credentials = place.credentials(1);
    const auto outcome = net::call(*net::address::parse(place.host().address()),
                                   {.secret = credentials.secret, .local = as_peer}, soon());
    EXPECT_FALSE(outcome);
    is_over = true;
  });
  ::testing::internal::CaptureStderr();
  place.serve_until([&] { return is_over.load(); });
  confused.join();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("nacre run: refused a peer"), std::string::npos);
  EXPECT_TRUE(place.reports.empty());
}

/// Runs `action` in a child process with that environment and returns its exit code.
int in_child(const std::vector<std::string>& variables, int (*action)()) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const std::string& each : variables) ::putenv(const_cast<char*>(each.c_str()));
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int take_credentials() {
  if (!started_by_launcher()) return 10;
  const job_credentials credentials = take_job_credentials();
  if (credentials.rank != rank_id(2) || credentials.size != 3 || credentials.control_address != "127.0.0.1:4711")
    return 11;
  for (char** each = environ; *each != nullptr; ++each) {
    if (is_job_variable(*each) && !std::string_view(*each).starts_with("NACRE_JOB_JOINED=")) return 12;
  }
  if (!started_by_launcher()) return 13;
  if (const launcher_choices choices = choices_of_launcher();
      choices.transport != "tcp" || choices.restore != "images" || choices.mark != "17")
    return 16;
  try {
    static_cast<void>(take_job_credentials());
    return 14;
  } catch (const setup_error&) {
  }
  // A program that this one starts is no rank.
  const pid_t child = ::fork();
  if (child == 0) ::_exit(started_by_launcher() || !choices_of_launcher().restore.empty() ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? credentials.secret.to_hex()[0] : 15;
}

TEST(job_credentials, carries_rank_size_address_and_secret_once_and_leaves_nothing_to_child_processes) {
  const job_secret secret = job_secret::generate();
  const net::unique_fd pipe = make_secret_pipe(secret);
  auto variables = job_variables(rank_id(2), 3, "127.0.0.1:4711", pipe.get(), {.ranks = 2, .place = 1});
  for (const std::string& each : variables_of({.transport = "tcp", .restore = "images", .mark = "17", .life = ""}))
    variables.push_back(each);
  for (const std::string& each : variables) {
    EXPECT_TRUE(is_job_variable(each));
    EXPECT_EQ(each.find(secret.to_hex()), std::string::npos) << "the secret is not in the environment";
  }
  EXPECT_EQ(in_child(variables, take_credentials), secret.to_hex()[0]);
}

int expect_setup_error() {
  try {
    static_cast<void>(take_job_credentials());
    return 1;
  } catch (const setup_error&) {
    return 0;
  }
}

TEST(job_credentials, that_is_damaged_is_an_error) {
  const net::unique_fd pipe = make_secret_pipe(job_secret::generate());
  const std::string secret = "NACRE_JOB_SECRET_FD=" + std::to_string(pipe.get());
  const std::string place = "NACRE_JOB_CONTROL_ADDRESS=127.0.0.1:1";
  EXPECT_EQ(in_child({"NACRE_JOB_RANK=0"}, expect_setup_error), 0);
  EXPECT_EQ(in_child({"NACRE_JOB_RANK=2", "NACRE_JOB_SIZE=2", "NACRE_JOB_RANKS_ON_HOST=1", place, secret},
                     expect_setup_error),
            0);
  EXPECT_EQ(in_child({"NACRE_JOB_RANK=x", "NACRE_JOB_SIZE=2", "NACRE_JOB_RANKS_ON_HOST=1", place, secret},
                     expect_setup_error),
            0);
  EXPECT_EQ(in_child({"NACRE_JOB_RANK=0", "NACRE_JOB_SIZE=2", "NACRE_JOB_RANKS_ON_HOST=1",
                      "NACRE_JOB_CONTROL_ADDRESS=here", secret},
                     expect_setup_error),
            0);
  EXPECT_EQ(
      in_child({"NACRE_JOB_RANK=0", "NACRE_JOB_SIZE=2", "NACRE_JOB_RANKS_ON_HOST=1", place, "NACRE_JOB_SECRET_FD=9999"},
               expect_setup_error),
      0);
}

}  // namespace
}  // namespace nacre::launch
