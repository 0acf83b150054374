// SPDX-License-Identifier: Apache-2.0
// The same over the kernel's TCP: one connection for each sender, nothing else to coordinate them.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "star_rank.hpp"

namespace incast {
namespace {

constexpr std::uint16_t port = 7002;

struct connection {
  int socket;
  std::uint32_t sender;  // from 0
  std::uint64_t bytes = 0;
};

[[nodiscard]] std::vector<connection> accept_all(std::uint32_t senders) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  static_cast<void>(::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  const sockaddr_in own = address_of(0, port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 || ::listen(listener, 64) != 0) {
    fail("listening for TCP");
  }
  std::vector<connection> all;
  while (all.size() < senders) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const int one = ::accept4(listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC);
    if (one < 0) fail("accept");
    static_cast<void>(::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
    all.push_back({one, ntohl(from.sin_addr.s_addr) - ntohl(own.sin_addr.s_addr) - 1});
  }
  ::close(listener);
  return all;
}

/// Waits for bytes until `until`, and counts them.
void take(std::vector<connection>& from, nanoseconds until) {
  std::vector<pollfd> all;
  for (const connection& each : from) all.push_back({each.socket, POLLIN, 0});
  const auto wait = std::max<std::int64_t>(0, (until - star_now()).count());
  const timespec limit{static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
  if (::ppoll(all.data(), all.size(), &limit, nullptr) <= 0) return;
  static std::array<char, 1 << 18> buffer;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].revents == 0) continue;
    const ssize_t got = ::recv(from[i].socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) from[i].bytes += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void run_tcp_receiver(const plan& how, nanoseconds begin, nanoseconds end, receiver_result& into) {
  std::vector<connection> all = accept_all(how.senders);
  while (star_now() < begin) take(all, begin);
  std::vector<std::uint64_t> before;
  for (const connection& each : all) before.push_back(each.bytes);
  std::uint64_t target = 0;
  while (star_now() < end) {
    if (!how.rounds) {
      take(all, end);
      continue;
    }
    target += how.bytes;
    const nanoseconds began = star_now();
    for (const connection& each : all) static_cast<void>(::send(each.socket, "g", 1, MSG_NOSIGNAL));
    const auto over = [&] {
      return std::all_of(all.begin(), all.end(), [&](const connection& each) { return each.bytes >= target; });
    };
    while (!over() && star_now() < end) take(all, end);
    if (over() && into.rounds < rounds_max) {
      into.round_seconds[into.rounds++] = std::chrono::duration<double>(star_now() - began).count();
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    into.complete[all[i].sender] = (all[i].bytes - before[i]) / how.bytes;
    ::close(all[i].socket);
  }
}

void run_tcp_sender(const plan& how, std::uint32_t self, nanoseconds begin, nanoseconds end) {
  static_cast<void>(self);
  const int own = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = address_of(0, port);
  while (::connect(own, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (star_now() > end) fail("connect");
    ::usleep(2000);  // the receiver does not listen yet
  }
  const int yes = 1;
  static_cast<void>(::setsockopt(own, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
  // A send that is stuck behind losses must not outlast the run.
  const timeval patience{0, 100'000};
  static_cast<void>(::setsockopt(own, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
  static_cast<void>(::setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
  const std::vector<char> payload(how.bytes);
  while (star_now() < begin) ::usleep(1000);
  while (star_now() < end) {
    char go = 0;
    if (how.rounds && ::recv(own, &go, 1, 0) != 1) continue;
    for (std::size_t sent = 0; sent < payload.size() && star_now() < end;) {
      const ssize_t took = ::send(own, payload.data() + sent, payload.size() - sent, MSG_NOSIGNAL);
      if (took > 0) sent += static_cast<std::size_t>(took);
      if (took < 0 && errno != EAGAIN) return static_cast<void>(::close(own));
    }
  }
  ::close(own);
}

}  // namespace incast
