// SPDX-License-Identifier: Apache-2.0
// The listener admits members and keeps strangers out, however many and however slow.
#include "join/net/listener.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "join/net/call.hpp"
#include "join/net/call_pauses.hpp"
#include "join/net/wait.hpp"

namespace nacre::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{30};

peer_identity identity_of(std::uint32_t rank) {
  peer_identity identity;
  identity.rank = rank_id(rank);
  identity.size = 4;
  return identity;
}

/// A listener of rank 0 and the lines that it has logged, driven by a clock of the test's own.
class test_listener {
 public:
  explicit test_listener(const listener::limits& first = listener::before_job)
      : test_listener(listen_at(address::any_port_of_loopback()), first) {}

  [[nodiscard]] int listening_socket() const noexcept { return listening_socket_; }
  [[nodiscard]] const address& where() const noexcept { return address_; }
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return listener_.waiting(); }
  /// Whether a thread that sleeps on the listener wakes at once.
  [[nodiscard]] bool is_ready() const noexcept {
    pollfd watched{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 0) == 1;
  }

  /// Polls until `enough` says so, then once more.
  template <class Condition>
  void poll_until(Condition enough) {
    const auto deadline = steady_clock::now() + patience;
    while (!enough() && steady_clock::now() < deadline) {
      wait_until(listener_.descriptor(), false, steady_clock::now() + milliseconds(10));
      poll();
    }
    EXPECT_TRUE(enough());
  }
  void poll() { listener_.poll(now, candidates); }
  void begin_job() { listener_.job_begins(now); }

  time_point now = steady_clock::now();
  std::vector<peer_candidate> candidates;
  std::vector<std::string> lines;

 private:
  test_listener(unique_fd listening_socket, const listener::limits& first)
      : listening_socket_(listening_socket.get()),
        address_(address::of_own_end(listening_socket.get())),
        secret_(job_secret::generate()),
        listener_(std::move(listening_socket), secret_, identity_of(0),
                  refusal_log("rank 0", [this](std::string_view line) { lines.emplace_back(line); }), first) {}

  int listening_socket_;
  address address_;
  job_secret secret_;
  listener listener_;
};

unique_fd connect_to(const address& address) {
  unique_fd socket = start_connect(address);
  wait_until(socket.get(), true, steady_clock::now() + patience);
  EXPECT_EQ(connect_result(socket.get()), 0);
  return socket;
}

/// The outcome of a call that runs beside the listener.
expected<peer_candidate, refusal> call_at(test_listener& listener, const job_secret& secret,
                                          const peer_identity& peer_identity) {
  std::optional<expected<peer_candidate, refusal>> outcome;
  std::atomic<bool> is_over{false};
  std::thread caller([&] {
    outcome = call(listener.where(), {.secret = secret, .local = peer_identity}, steady_clock::now() + patience);
    is_over = true;
  });
  listener.poll_until([&] { return is_over.load(); });
  caller.join();
  return std::move(*outcome);
}

TEST(listener, admits_a_peer_that_knows_the_secret_and_tells_its_rank) {
  test_listener position;
  const auto outcome = call_at(position, position.secret(), identity_of(3));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->identity.rank, rank_id(0));
  ASSERT_EQ(position.candidates.size(), 1U);
  EXPECT_EQ(position.candidates[0].identity.rank, rank_id(3));
  EXPECT_TRUE(position.lines.empty());
}

TEST(listener, refuses_another_secret_with_one_line) {
  test_listener position;
  const auto outcome = call_at(position, job_secret::generate(), identity_of(3));
  EXPECT_FALSE(outcome);
  position.poll_until([&] { return position.waiting() == 0; });
  EXPECT_TRUE(position.candidates.empty());
  ASSERT_EQ(position.lines.size(), 1U);
  EXPECT_NE(position.lines[0].find("secret"), std::string::npos) << position.lines[0];
}

TEST(listener, refuses_another_binary_with_a_line_that_says_so_on_both_sides) {
  test_listener position;
  peer_identity other = identity_of(3);
  other.binary = 42;
  const auto outcome = call_at(position, position.secret(), other);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, refusal_reason::other_binary);
  position.poll_until([&] { return position.waiting() == 0; });
  ASSERT_EQ(position.lines.size(), 1U);
  EXPECT_NE(position.lines[0].find("another binary"), std::string::npos) << position.lines[0];
}

TEST(listener, admits_all_members_of_a_large_job_that_call_at_once) {
  constexpr std::uint32_t members = 300;
  test_listener position;
  std::list<socket_handshake> callers;
  for (std::uint32_t i = 0; i < members; ++i) {
    callers.push_back(
        socket_handshake::of_caller(start_connect(position.where()), position.where(),
                                    handshake(handshake_role::initiator, position.secret(), identity_of(1 + i % 3)),
                                    steady_clock::now() + patience));
  }
  position.poll_until([&] { return position.waiting() == members; });  // all of them before the first one answers
  std::size_t accepted = 0;
  position.poll_until([&] {
    for (auto each = callers.begin(); each != callers.end();) {
      const auto outcome = each->advance(steady_clock::now());
      EXPECT_NE(outcome, socket_handshake::outcome::refused);
      accepted += outcome == socket_handshake::outcome::accepted ? 1 : 0;
      each = outcome == socket_handshake::outcome::pending ? std::next(each) : callers.erase(each);
    }
    return callers.empty();
  });
  EXPECT_EQ(accepted, members);
  EXPECT_EQ(position.candidates.size(), members);
  EXPECT_TRUE(position.lines.empty());
}

constexpr listener::limits few_places{
    .places = 8, .time = milliseconds(handshake_time_ms_max), .undisturbed = seconds(2)};

TEST(listener, hangs_up_on_no_member_of_a_crowd_that_is_larger_than_its_places_and_slow) {
  constexpr std::uint32_t members = 100, polls_apart = 20;
  test_listener position(few_places);
  std::list<socket_handshake> callers;
  for (std::uint32_t i = 0; i < members; ++i) {
    callers.push_back(
        socket_handshake::of_caller(start_connect(position.where()), position.where(),
                                    handshake(handshake_role::initiator, position.secret(), identity_of(1 + i % 3)),
                                    steady_clock::now() + patience));
  }
  const auto deadline = steady_clock::now() + patience;
  for (std::uint32_t polls = 0; !callers.empty() && steady_clock::now() < deadline; ++polls) {
    position.poll();
    EXPECT_LE(position.waiting(), few_places.places);
    std::uint32_t place = 0;
    for (auto each = callers.begin(); each != callers.end(); ++place) {
      const auto outcome =
          (polls + place) % polls_apart == 0 ? each->advance(steady_clock::now()) : socket_handshake::outcome::pending;
      ASSERT_NE(outcome, socket_handshake::outcome::refused) << each->why().explanation;
      each = outcome == socket_handshake::outcome::pending ? std::next(each) : callers.erase(each);
    }
  }
  EXPECT_EQ(callers.size(), 0U);
  EXPECT_EQ(position.candidates.size(), members);
}

TEST(listener, lets_a_poll_loop_sleep_while_a_call_waits_for_a_place) {
  test_listener position(few_places);
  std::vector<unique_fd> silent;
  while (silent.size() < few_places.places) silent.push_back(connect_to(position.where()));
  position.poll_until([&] { return position.waiting() == few_places.places; });
  const unique_fd next = connect_to(position.where());
  position.poll();
  EXPECT_FALSE(position.is_ready());
  char byte = 0;
  EXPECT_EQ(::recv(silent[0].get(), &byte, 1, MSG_DONTWAIT), 1) << "of the challenge: nobody has hung up";

  position.now += few_places.undisturbed;
  position.poll();
  wait_until(next.get(), false, steady_clock::now() + patience);
  EXPECT_EQ(::recv(next.get(), &byte, 1, MSG_DONTWAIT), 1) << "the oldest has given way";
  EXPECT_EQ(position.waiting(), few_places.places);

  silent.pop_back();
  position.poll_until([&] { return position.waiting() == few_places.places - 1; });
  silent.push_back(connect_to(position.where()));
  position.poll_until([&] { return position.waiting() == few_places.places; });
}

TEST(call_pauses, double_up_to_their_longest_and_differ_among_callers) {
  using std::chrono::microseconds;
  call_pauses first(milliseconds(50), 0);
  call_pauses second(milliseconds(50), 1);
  bool differ = false;
  for (const milliseconds whole : {milliseconds(50), milliseconds(100), milliseconds(200), milliseconds(400),
                                   milliseconds(800), call_pauses::longest, call_pauses::longest}) {
    const microseconds pause = first.next();
    EXPECT_LE(pause, whole);
    EXPECT_GE(2 * pause, whole);
    differ |= pause != second.next();
  }
  EXPECT_TRUE(differ);
}

TEST(call, that_is_not_answered_in_time_is_made_again) {
  test_listener listener;
  std::optional<expected<peer_candidate, refusal>> outcome;
  std::atomic<bool> is_over{false};
  std::thread caller([&] {
    outcome = call(listener.where(), {.secret = listener.secret(), .local = identity_of(3)},
                   steady_clock::now() + patience, milliseconds(200));
    is_over = true;
  });
  wait_until(listener.listening_socket(), false, steady_clock::now() + patience);
  const unique_fd first = accept_from(listener.listening_socket());
  EXPECT_TRUE(first);
  listener.poll_until([&] { return is_over.load(); });
  caller.join();
  EXPECT_TRUE(*outcome);
  EXPECT_EQ(listener.candidates.size(), 1U);
}

TEST(call, that_nobody_answers_is_made_twice_although_its_deadline_has_passed_and_ends) {
  const unique_fd listening_socket = listen_at(address::any_port_of_loopback());
  const job_secret secret = job_secret::generate();
  const auto outcome = call(address::of_own_end(listening_socket.get()), {.secret = secret, .local = identity_of(3)},
                            steady_clock::now(), milliseconds(20));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, refusal_reason::timed_out);
  for (int calls = 0; calls < 2; ++calls) EXPECT_TRUE(accept_from(listening_socket.get()));
  EXPECT_FALSE(accept_from(listening_socket.get()));
}

TEST(listener, refuses_garbage_with_one_line) {
  test_listener position;
  const unique_fd stranger = connect_to(position.where());
  const std::string garbage = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(1000, 'x');
  ASSERT_EQ(send_some(stranger.get(), garbage.data(), garbage.size()), static_cast<std::ptrdiff_t>(garbage.size()));
  position.poll_until([&] { return !position.lines.empty(); });
  EXPECT_EQ(position.lines.size(), 1U);
  EXPECT_EQ(position.waiting(), 0U);
}

TEST(listener, names_a_peer_that_resets_before_it_is_accepted) {
  test_listener position;
  position.begin_job();
  unique_fd peer = connect_to(position.where());
  const std::string name = address::of_own_end(peer.get()).text();
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  peer.reset();
  position.poll_until([&] { return !position.lines.empty(); });
  ASSERT_EQ(position.lines.size(), 1U);
  EXPECT_NE(position.lines[0].find("at " + name + ":"), std::string::npos) << position.lines[0];
}

TEST(listener, says_nothing_of_those_that_hang_up_or_are_too_slow_before_the_job_begins) {
  test_listener position;
  connect_to(position.where()).reset();
  const unique_fd silent = connect_to(position.where());
  position.poll_until([&] { return position.waiting() == 1; });
  position.now += milliseconds(handshake_time_ms_max);
  position.poll();
  EXPECT_EQ(position.waiting(), 0U);
  EXPECT_TRUE(position.lines.empty()) << position.lines.front();
}

TEST(listener, logs_one_line_for_a_connection_that_opens_and_closes_during_the_job) {
  test_listener position;
  position.begin_job();
  connect_to(position.where()).reset();
  position.poll_until([&] { return !position.lines.empty(); });
  EXPECT_EQ(position.lines.size(), 1U);
  EXPECT_EQ(position.waiting(), 0U);
}

TEST(listener, gives_up_on_a_silent_connection_when_its_time_is_over) {
  test_listener position;
  const unique_fd silent = connect_to(position.where());
  position.poll_until([&] { return position.waiting() == 1; });
  position.now += milliseconds(handshake_time_ms_max - 1);
  position.poll();
  EXPECT_EQ(position.waiting(), 1U);
  position.now += milliseconds(1);
  position.poll();
  EXPECT_EQ(position.waiting(), 0U);
}

TEST(listener, is_patient_with_members_that_come_and_short_with_strangers_once_the_job_has_begun) {
  test_listener position;
  const unique_fd descriptor = connect_to(position.where());
  position.poll_until([&] { return position.waiting() == 1; });
  position.now += seconds(20);
  position.poll();
  EXPECT_EQ(position.waiting(), 1U) << "a rank of hundreds that start may take so long";
  position.begin_job();
  const unique_fd during = connect_to(position.where());
  position.poll_until([&] { return position.waiting() == 2; });
  position.now += listener::during_job.time - milliseconds(1);
  position.poll();
  EXPECT_EQ(position.waiting(), 2U);
  position.now += milliseconds(1);
  position.poll();
  EXPECT_EQ(position.waiting(), 0U);
  EXPECT_EQ(position.lines.size(), 2U) << "one for each";
}

TEST(listener, has_few_places_once_the_job_has_begun_even_when_all_were_taken_before) {
  test_listener position;
  std::vector<unique_fd> strangers;
  for (std::size_t i = 0; i < 2 * listener::during_job.places; ++i) strangers.push_back(connect_to(position.where()));
  position.poll_until([&] { return position.waiting() == 2 * listener::during_job.places; });
  position.begin_job();
  EXPECT_EQ(position.waiting(), listener::during_job.places);
  strangers.push_back(connect_to(position.where()));
  position.poll_until([&] { return position.lines.size() == refusal_log::burst; });
  EXPECT_EQ(position.waiting(), listener::during_job.places);
}

TEST(listener, gives_up_on_a_connection_that_sends_a_byte_now_and_then) {
  test_listener position;
  const unique_fd slow = connect_to(position.where());
  position.poll_until([&] { return position.waiting() == 1; });
  // The first bytes of an honest response, so that no single one is a reason to refuse.
  handshake acceptor(handshake_role::acceptor, position.secret(), identity_of(0));
  handshake initiator(handshake_role::initiator, position.secret(), identity_of(1));
  std::span<const std::byte> challenge = acceptor.to_send();
  initiator.on_bytes(challenge);
  const std::vector<std::byte> response(initiator.to_send().begin(), initiator.to_send().end());
  const milliseconds step(handshake_time_ms_max / 20);
  for (std::size_t i = 0; i < 30 && position.waiting() > 0; ++i) {
    static_cast<void>(send_some(slow.get(), &response[i], 1));
    wait_until(slow.get(), false, steady_clock::now());
    position.now += step;
    position.poll();
  }
  EXPECT_EQ(position.waiting(), 0U);
}

TEST(listener, lets_a_member_in_although_strangers_hold_all_places) {
  test_listener position;
  std::vector<unique_fd> strangers;
  for (std::size_t i = 0; i < listener::before_job.places + 10; ++i) {
    strangers.push_back(connect_to(position.where()));
    position.poll();
    EXPECT_LE(position.waiting(), listener::before_job.places);
  }
  position.poll_until([&] { return position.waiting() == listener::before_job.places; });
  position.now += listener::before_job.undisturbed;
  const auto outcome = call_at(position, position.secret(), identity_of(2));
  EXPECT_TRUE(outcome);
  EXPECT_EQ(position.candidates.size(), 1U);
  EXPECT_LE(position.lines.size(), refusal_log::burst);
}

TEST(listener, turns_a_caller_away_where_the_process_may_open_no_more) {
  test_listener position;
  const unique_fd stranger = connect_to(position.where());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  char byte = 0;
  position.poll_until([&] { return ::recv(stranger.get(), &byte, 1, MSG_DONTWAIT) == 0; });
  pollfd listening{.fd = position.listening_socket(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&listening, 1, 0), 0) << "else a rank that waits would never sleep";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(call_at(position, position.secret(), identity_of(3)));
}

TEST(call, that_finds_no_listener_says_so) {
  unique_fd socket = listen_at(address::any_port_of_loopback());
  const address nobody = address::of_own_end(socket.get());
  socket.reset();
  const job_secret secret = job_secret::generate();
  const auto outcome = call(nobody, {.secret = secret, .local = identity_of(1)}, steady_clock::now() + patience);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().log_line(nobody.text()), "no connection to " + nobody.text() + ": connection refused");
}

TEST(refusal_log, writes_a_burst_then_one_line_a_second_and_counts_the_rest) {
  std::vector<std::string> lines;
  refusal_log log("rank 0", [&](std::string_view line) { lines.emplace_back(line); });
  const auto now = steady_clock::now();
  for (int i = 0; i < 100; ++i) log.write("refused a peer", now);
  EXPECT_EQ(lines.size(), refusal_log::burst);
  EXPECT_EQ(lines.front(), "rank 0 refused a peer");
  log.write("refused a peer", now + refusal_log::interval);
  ASSERT_EQ(lines.size(), refusal_log::burst + 1);
  EXPECT_EQ(lines.back(), "rank 0 refused a peer (92 more were refused before)");
}

TEST(address, reads_back_what_it_writes_and_nothing_else) {
  for (const char* text : {"127.0.0.1:4711", "[::1]:65535", "0.0.0.0:0"}) {
    const auto parsed = address::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->text(), text);
  }
  for (const char* text : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "localhost:1",
                           "::1:1", "[::1]", "[]:1", "1.2.3:4"}) {
    EXPECT_FALSE(address::parse(text)) << text;
  }
}

}  // namespace
}  // namespace nacre::net
