// SPDX-License-Identifier: Apache-2.0
// The floor of udp: datagrams between two processes.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "floor_pair.hpp"
#include "floors.hpp"
#include "payloads.hpp"

namespace ladder {
namespace {

constexpr std::size_t joined_max =
    64'000;  // bytes that the kernel cuts or joins; at most 64 datagrams on older kernels

struct datagram_end {
  int data, credits;
  datagram_way method;
  std::size_t window;  // datagrams that fit into the receiver's buffer
  payloads outgoing, incoming;
  std::size_t ahead = 0, owed = 0;
  [[nodiscard]] std::size_t count_of(std::size_t bytes) const { return (bytes + method.longest - 1) / method.longest; }
  void send(std::size_t bytes, int position) {
    const std::size_t most = method.joined ? joined_max / method.longest * method.longest : method.longest;
    for (std::size_t sent = 0; sent < bytes; sent += most) {
      const std::size_t part = std::min(most, bytes - sent);
      char credit = 0;
      while (ahead + count_of(part) > window) {
        if (recv(credits, &credit, 1, MSG_DONTWAIT) == 1) ahead -= window / 4;
      }
      ahead += count_of(part);
      if (::send(data, outgoing.at(position) + sent, part, 0) < 0) {
        throw std::runtime_error("loopback send failed");
      }
    }
  }
  void receive(std::size_t bytes) {
    for (std::size_t got = 0; got < bytes;) {
      const ssize_t more = recv(data, incoming.at(0) + got, bytes - got, MSG_DONTWAIT);
      if (more < 0) continue;
      got += static_cast<std::size_t>(more);
      owed += count_of(static_cast<std::size_t>(more));
      if (owed < window / 4) continue;
      owed -= window / 4;
      if (::send(credits, "", 1, 0) < 0) throw std::runtime_error("loopback send failed");
    }
  }
};

/// Two connected UDP sockets, with as large a buffer as the kernel gives.
std::array<int, 2> datagram_pair() {
  std::array<int, 2> ends{};
  std::array<sockaddr_in, 2> addresses{};
  socklen_t length = sizeof addresses[0];
  for (std::size_t i = 0; i < 2; ++i) {
    ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    addresses[i].sin_family = AF_INET;
    addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int buffer = 4 << 20;
    setsockopt(ends[i], SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (bind(ends[i], reinterpret_cast<sockaddr*>(&addresses[i]), length) != 0 ||
        getsockname(ends[i], reinterpret_cast<sockaddr*>(&addresses[i]), &length) != 0) {
      throw std::runtime_error("no loopback datagrams to compare with");
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (connect(ends[i], reinterpret_cast<sockaddr*>(&addresses[1 - i]), length) != 0) {
      throw std::runtime_error("no loopback datagrams to compare with");
    }
  }
  return ends;
}

/// Has the kernel cut what is longer than a datagram, and join what arrives. False: it cannot.
bool join(const std::array<int, 2>& ends, std::size_t longest) {
  const int each = static_cast<int>(longest), index = 1;
  return std::all_of(ends.begin(), ends.end(), [&](int end) {
    return setsockopt(end, IPPROTO_UDP, UDP_SEGMENT, &each, sizeof each) == 0 &&
           setsockopt(end, IPPROTO_UDP, UDP_GRO, &index, sizeof index) == 0;
  });
}

void close_both(const std::array<int, 2>& ends) {
  for (const int end : ends) close(end);
}

}  // namespace

sample raw_datagrams(std::size_t bytes, datagram_way way) {
  const std::array<int, 2> data = datagram_pair();
  const std::array<int, 2> credits = datagram_pair();
  if (way.joined && !join(data, way.longest)) {
    for (const auto& pair : {data, credits}) close_both(pair);
    return {bytes, 0, 0};
  }
  int buffer = 0;
  socklen_t length = sizeof buffer;
  getsockopt(data[0], SOL_SOCKET, SO_RCVBUF, &buffer, &length);
  const std::size_t each = 2 * std::min(bytes, way.longest) + 2048;
  const std::size_t window = std::max<std::size_t>(4, static_cast<std::size_t>(buffer) / each);
  sample result{};
  {
    const partner other([&] {
      datagram_end end{data[1], credits[1], way, window, payloads(bytes), payloads(bytes)};
      serve(end, bytes);
    });
    datagram_end end{data[0], credits[0], way, window, payloads(bytes), payloads(bytes)};
    result = drive(end, bytes);
  }
  for (const auto& pair : {data, credits}) close_both(pair);
  return result;
}

}  // namespace ladder
