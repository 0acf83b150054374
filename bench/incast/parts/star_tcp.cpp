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
  const sockaddr_in address = address_of(0, port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 64) != 0) {
    fail("listening for TCP");
  }
  std::vector<connection> all;
  while (all.size() < senders) {
    sockaddr_in source{};
    socklen_t length = sizeof source;
    const int one = ::accept4(listener, reinterpret_cast<sockaddr*>(&source), &length, SOCK_CLOEXEC);
    if (one < 0) fail("accept");
    static_cast<void>(::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
    all.push_back({one, ntohl(source.sin_addr.s_addr) - ntohl(address.sin_addr.s_addr) - 1});
  }
  ::close(listener);
  return all;
}

/// Waits for bytes until `until`, and counts them.
void take(std::vector<connection>& connections, nanoseconds until) {
  std::vector<pollfd> all;
  for (const connection& each : connections) all.push_back({each.socket, POLLIN, 0});
  const auto wait = std::max<std::int64_t>(0, (until - star_now()).count());
  const timespec limit{static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
  if (::ppoll(all.data(), all.size(), &limit, nullptr) <= 0) return;
  static std::array<char, 1 << 18> buffer;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].revents == 0) continue;
    const ssize_t got = ::recv(connections[i].socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) connections[i].bytes += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void run_tcp_receiver(const plan& plan, nanoseconds begin, nanoseconds end, receiver_result& result) {
  std::vector<connection> all = accept_all(plan.senders);
  while (star_now() < begin) take(all, begin);
  std::vector<std::uint64_t> values;
  for (const connection& each : all) values.push_back(each.bytes);
  std::uint64_t target = 0;
  while (star_now() < end) {
    if (!plan.rounds) {
      take(all, end);
      continue;
    }
    target += plan.bytes;
    const nanoseconds began = star_now();
    for (const connection& each : all) static_cast<void>(::send(each.socket, "g", 1, MSG_NOSIGNAL));
    const auto is_over = [&] {
      return std::all_of(all.begin(), all.end(), [&](const connection& each) { return each.bytes >= target; });
    };
    while (!is_over() && star_now() < end) take(all, end);
    if (is_over() && result.rounds < rounds_max) {
      result.round_seconds[result.rounds++] = std::chrono::duration<double>(star_now() - began).count();
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    result.complete[all[i].sender] = (all[i].bytes - values[i]) / plan.bytes;
    ::close(all[i].socket);
  }
}

void run_tcp_sender(const plan& plan, std::uint32_t self, nanoseconds begin, nanoseconds end) {
  static_cast<void>(self);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = address_of(0, port);
  while (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (star_now() > end) fail("connect");
    ::usleep(2000);  // the receiver does not listen yet
  }
  const int yes = 1;
  static_cast<void>(::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
  // A send that is stuck behind losses must not outlast the run.
  const timeval patience{0, 100'000};
  static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
  static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
  const std::vector<char> payload(plan.bytes);
  while (star_now() < begin) ::usleep(1000);
  while (star_now() < end) {
    char go = 0;
    if (plan.rounds && ::recv(descriptor, &go, 1, 0) != 1) continue;
    for (std::size_t sent = 0; sent < payload.size() && star_now() < end;) {
      const ssize_t took = ::send(descriptor, payload.data() + sent, payload.size() - sent, MSG_NOSIGNAL);
      if (took > 0) sent += static_cast<std::size_t>(took);
      if (took < 0 && errno != EAGAIN) return static_cast<void>(::close(descriptor));
    }
  }
  ::close(descriptor);
}

}  // namespace incast
