// SPDX-License-Identifier: Apache-2.0
// A rank on a host of the star: datagrams of the kernel under Nacre's flow control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "backplane/flow/flow_control.hpp"
#include "plan.hpp"
#include "star_socket.hpp"

namespace incast {

/// In front of each packet of a message.
struct packet_head {
  std::uint64_t pass;
  std::uint32_t message, epoch;
  std::uint16_t packet, packets;
  std::uint8_t policy, reserved[3];
};
static_assert(sizeof(packet_head) == 24);

constexpr std::size_t packet_payload = 1472 - sizeof(packet_head);
/// What the switch counts of a message: with the heads of Ethernet, IP, UDP and ours.
[[nodiscard]] std::uint64_t wire_bytes(std::uint64_t bytes);
/// How long the packets of a message take on a link.
[[nodiscard]] nanoseconds wire_time(const plan& plan);

/// What the rank of the receiver says by itself, beside flow control: the next round begins.
struct go_message {
  std::uint8_t kind;
  std::uint32_t round;
};

/// What both ends have in common: sockets, control messages, the clock.
class star_rank : public nacre::flow::flow_host {
 public:
  star_rank(const plan& plan, std::uint32_t self);

 protected:
  ~star_rank() = default;
  static constexpr std::byte control_kind{0xC0}, go_kind{0x60};

  /// Waits for packets, or until `until`; handles what has come.
  void work(nanoseconds until);
  void take_data();
  virtual void on_packet(std::uint32_t, std::span<const std::byte>) {}
  virtual void on_go(std::uint32_t) {}
  /// Whether something waits for room in the socket.
  [[nodiscard]] virtual bool waits_for_room() const { return false; }
  void say_go(std::uint32_t host, std::uint32_t round);

  void send(nacre::rank_id target, const nacre::flow::message& message) override;

  const plan plan_;
  datagrams control_, data_;
  nacre::flow::flow_control flow_;

 private:
  void take_control();
  std::vector<std::byte> buffer_;
};

struct sender_result {
  double token_us = 0;
  std::uint64_t retries = 0;
};
/// A sender, from `begin` to `end`.
[[nodiscard]] sender_result run_sender(const plan& plan, std::uint32_t self, nanoseconds begin, nanoseconds end);

constexpr std::size_t rounds_max = 4096;
struct receiver_result {
  std::uint64_t complete[star_senders_max];
  std::uint32_t rounds;
  double round_seconds[rounds_max];
};
/// Fills the result, of which all is zero at first.
void run_receiver(const plan& plan, nanoseconds begin, nanoseconds end, receiver_result& result);
/// The same over the kernel's TCP.
void run_tcp_sender(const plan& plan, std::uint32_t self, nanoseconds begin, nanoseconds end);
void run_tcp_receiver(const plan& plan, nanoseconds begin, nanoseconds end, receiver_result& result);

}  // namespace incast
