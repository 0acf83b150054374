// SPDX-License-Identifier: Apache-2.0
// A rank over datagrams with a test as its only peer, which may say anything.
#pragma once

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/udp/endpoint.hpp"

namespace nacre::transport::udp {

/// Rank 0 of two, while the test plays rank 1, which has met it and has its keys.
class rank_with_a_liar {
 public:
  explicit rank_with_a_liar(tag_method method = tag_method::siphash, std::uint32_t longest = 1400) : method_(method) {
    std::array<int, 2> streams{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, streams.data()), 0);
    liveness_.reset(streams[1]);
    datagram_socket datagram_socket(net::address::any_port_of_loopback(), 1u << 20);
    peer_.emplace(net::address::any_port_of_loopback(), 1u << 20);
    datagram_socket.connect(peer_->own_address());
    rank_address_ = datagram_socket.own_address();
    peer_->connect(datagram_socket.own_address());
    endpoint_parts parts{.rank = rank_id(0), .peers = {}, .launcher = nullptr, .output_bytes_max = 1u << 20};
    parts.peers.resize(2);
    const frame_limits frames{.ranks = 2, .payload_bytes_max = 1u << 20, .peer = rank_id(1)};
    parts.peers[1].emplace(peer_parts{
        .liveness_socket = net::unique_fd(streams[0]),
        .socket = std::move(datagram_socket),
        .link =
            connection({.frames = frames, .datagram_bytes = longest, .peer_buffer_bytes = 1u << 20}, key(1), key(2)),
        .apart = unreliable_link(longest, key(3), key(4))});
    end_ = std::make_unique<udp_endpoint>(std::move(parts));
  }

  void send(const datagram& datagram, std::span<const std::byte> bytes, std::uint8_t signed_by) {
    outgoing_batch batch;
    const std::span<std::byte> space = batch.space();
    const std::size_t front = write_head(datagram, space);
    std::copy(bytes.begin(), bytes.end(), space.begin() + static_cast<std::ptrdiff_t>(front));
    key(signed_by).sign(space.first(front + bytes.size()));
    batch.add(front + bytes.size());
    EXPECT_EQ(peer_->send(batch), 1U);
  }
  /// A datagram of side 1 with the right tag.
  [[nodiscard]] std::vector<std::byte> signed_datagram(const datagram& datagram,
                                                       std::span<const std::byte> bytes) const {
    std::vector<std::byte> result(overhead_of(datagram.acknowledged.size()) + bytes.size());
    const std::size_t front = write_head(datagram, result);
    std::copy(bytes.begin(), bytes.end(), result.begin() + static_cast<std::ptrdiff_t>(front));
    key(2).sign(result);
    return result;
  }
  void send_as_they_are(std::span<const std::byte> bytes) { EXPECT_TRUE(peer_->send(bytes, {})); }
  /// Sends bytes from another port of this host.
  void send_from_a_stranger(std::span<const std::byte> bytes) {
    datagram_socket stranger(net::address::any_port_of_loopback(), 1u << 20);
    stranger.connect(rank_address_);
    EXPECT_TRUE(stranger.send(bytes, {}));
  }
  void say(std::uint8_t sign) { EXPECT_EQ(net::send_some(liveness_.get(), &sign, 1), 1); }
  void hang_up() { liveness_.reset(); }

  [[nodiscard]] std::optional<failure> poll_for_failure(int polls) {
    for (; polls > 0; --polls) {
      end_->poll(arrived, 10);
      if (auto seen = end_->failed()) return seen;
    }
    return std::nullopt;
  }

  message_list arrived;

 private:
  [[nodiscard]] datagram_key key(std::uint8_t number) const {
    job_secret::proof bytes{};
    bytes.fill(static_cast<std::byte>(number));
    return {method_, bytes};
  }

  tag_method method_;
  net::address rank_address_;

  net::unique_fd liveness_;
  std::optional<datagram_socket> peer_;
  std::unique_ptr<udp_endpoint> end_;
};

}  // namespace nacre::transport::udp
