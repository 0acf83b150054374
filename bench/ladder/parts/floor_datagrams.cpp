// SPDX-License-Identifier: Apache-2.0
// The floor of udp: datagrams between two processes.
#include <netinet/in.h>
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

struct datagram_end {
  static constexpr std::size_t longest = 65507;
  int data, credits;
  std::size_t window;  // datagrams that fit into the receiver's buffer
  payloads from, to;
  std::size_t ahead = 0, owed = 0;
  void send(std::size_t bytes, int position) {
    for (std::size_t sent = 0; sent < bytes; sent += longest, ++ahead) {
      char credit = 0;
      while (ahead >= window) {
        if (recv(credits, &credit, 1, MSG_DONTWAIT) == 1) ahead -= window / 4;
      }
      if (::send(data, from.at(position) + sent, std::min(longest, bytes - sent), 0) < 0) {
        throw std::runtime_error("loopback send failed");
      }
    }
  }
  void receive(std::size_t bytes) {
    for (std::size_t got = 0; got < bytes;) {
      const ssize_t more = recv(data, to.at(0) + got, bytes - got, MSG_DONTWAIT);
      if (more < 0) continue;
      got += static_cast<std::size_t>(more);
      if (++owed < window / 4) continue;
      owed = 0;
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

}  // namespace

sample raw_datagrams(std::size_t bytes) {
  const std::array<int, 2> data = datagram_pair();
  const std::array<int, 2> credits = datagram_pair();
  int buffer = 0;
  socklen_t length = sizeof buffer;
  getsockopt(data[0], SOL_SOCKET, SO_RCVBUF, &buffer, &length);
  const std::size_t each = 2 * std::min(bytes, datagram_end::longest) + 2048;
  const std::size_t window = std::max<std::size_t>(4, static_cast<std::size_t>(buffer) / each);
  sample result{};
  {
    const partner other([&] {
      datagram_end end{data[1], credits[1], window, payloads(bytes), payloads(bytes)};
      serve(end, bytes);
    });
    datagram_end end{data[0], credits[0], window, payloads(bytes), payloads(bytes)};
    result = drive(end, bytes);
  }
  for (const auto& pair : {data, credits}) {
    for (const int end : pair) close(end);
  }
  return result;
}

}  // namespace ladder
