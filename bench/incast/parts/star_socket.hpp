// SPDX-License-Identifier: Apache-2.0
// Sockets and processes on the hosts of the star.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace incast {

using std::chrono::nanoseconds;

/// The machine's clock, which all its namespaces share.
[[nodiscard]] nanoseconds star_now();
/// Of the host of that number.
[[nodiscard]] sockaddr_in address_of(std::uint32_t host, std::uint16_t port);
/// Enters the host; keeps to one processor, the last one for host 0 and the others for the rest, where there are
/// several. Throws std::runtime_error.
void enter_host(std::uint32_t host);
/// Keeps to the processor of host 0.
void stay_with_receiver();
/// Becomes a process like any other, whatever the priority of this program.
void become_ordinary();

enum class urgency : std::uint8_t { data, control };  ///< control goes first in the host's own queue

/// A UDP socket that never blocks.
class datagrams {
 public:
  datagrams(std::uint16_t port, urgency urgency);
  datagrams(const datagrams&) = delete;
  datagrams& operator=(const datagrams&) = delete;
  ~datagrams();
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  /// False when the socket is full.
  bool send(std::uint32_t host, std::span<const std::byte> head, std::span<const std::byte> rest);
  /// Whether something that was sent has not left the host.
  [[nodiscard]] bool holds_some() const noexcept;
  struct arrival {
    std::uint32_t source;
    std::size_t bytes;
  };
  /// Nothing when none waits.
  [[nodiscard]] std::optional<arrival> receive(std::span<std::byte> target);

 private:
  int socket_;
  std::uint16_t port_;
};

[[noreturn]] void fail(const char* name);

}  // namespace incast
