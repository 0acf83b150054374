// SPDX-License-Identifier: Apache-2.0
// For tests: a rank's endpoint over a scripted UCX.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/ucx/compact_frame.hpp"
#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {

inline constexpr rank_id local_rank{0};
inline constexpr std::uint32_t ranks = 3;
inline constexpr std::uint32_t application = 1;  // its channel
inline constexpr std::size_t output_max = 10'000;
inline constexpr std::byte ready{1};
inline constexpr std::byte shutdown{2};

/// The calls that the endpoint has made to UCX, and UCX's events for the next calls of progress.
struct script {
  struct sent {
    std::uint32_t peer, channel_index;
    frame_kind kind;
    stamp frame_stamp;
    std::size_t bytes;
    std::optional<std::uint64_t> request_id;  // nothing: it left at once
  };
  struct fetched {
    std::uintptr_t handle;
    std::span<std::byte> destination;
    std::uint64_t request_id;
  };
  std::vector<sent> frames;
  std::deque<std::function<void(port_callbacks&)>> next;
  std::vector<std::function<void(port_callbacks&)>> before_first_signs;
  outcome sends_are = outcome::done;
  bool takes_at_once = true;
  bool arms = true;
  bool speaks_while_arming = false;
  std::optional<std::uint32_t> speaks_on;                // channel; nothing: any that is polled
  std::array<std::uint32_t, channels_per_peer> looks{};  // by channel
  std::vector<fetched> fetches;
  std::vector<std::uintptr_t> refused;                           // rendezvous requests
  std::vector<std::pair<std::uint32_t, std::uint32_t>> flushes;  // peers and channels
};

class scripted_port final : public port {
 public:
  explicit scripted_port(script& script) : script_(script) {}
  void set_callbacks(port_callbacks& callbacks) noexcept override { callbacks_ = &callbacks; }
  std::span<const std::byte> address(std::uint32_t) const noexcept override { return {}; }
  bool connect(std::uint32_t, std::uint32_t, std::span<const std::byte>, reach) noexcept override { return true; }
  outcome send(std::uint32_t peer, std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
               std::span<const std::byte> frame, std::uint64_t request_id) noexcept override {
    if (frame.empty() && kind == frame_kind::message && !is_compact(stamp)) {  // a sign of life is answered by one
      for (auto& each : std::exchange(script_.before_first_signs, {})) script_.next.push_back(std::move(each));
      script_.next.push_back([=](port_callbacks& callbacks) {
        callbacks.arrived(channel_index, frame_kind::message, {.key = peer, .source = peer}, {});
      });
      return outcome::done;
    }
    script_.frames.push_back({peer, channel_index, kind, stamp, frame.size(), request_id});
    return script_.sends_are;
  }
  bool send_at_once(std::uint32_t peer, std::uint32_t channel_index,
                    std::span<const std::byte> stamped) noexcept override {
    stamp stamp;
    std::memcpy(&stamp, stamped.data(), sizeof stamp);
    const std::size_t bytes = stamped.size() - sizeof stamp;
    if (script_.takes_at_once) script_.frames.push_back({peer, channel_index, frame_kind::message, stamp, bytes, {}});
    return script_.takes_at_once;
  }
  outcome fetch(std::uint32_t, rendezvous_request request, std::span<std::byte> target,
                std::uint64_t request_id) noexcept override {
    script_.fetches.push_back({reinterpret_cast<std::uintptr_t>(request.handle), target, request_id});
    return outcome::pending;
  }
  void refuse(std::uint32_t, rendezvous_request request) noexcept override {
    script_.refused.push_back(reinterpret_cast<std::uintptr_t>(request.handle));
  }
  outcome flush(std::uint32_t peer, std::uint32_t channel_index, std::uint64_t) noexcept override {
    script_.flushes.emplace_back(peer, channel_index);
    return outcome::done;
  }
  bool progress(std::uint32_t channel_index) noexcept override {
    ++script_.looks[channel_index];
    if (script_.next.empty() || script_.speaks_on.value_or(channel_index) != channel_index) return false;
    const auto remove_reference = std::move(script_.next.front());
    script_.next.pop_front();
    remove_reference(*callbacks_);
    return true;
  }
  bool arm(std::uint32_t) noexcept override {
    if (script_.speaks_while_arming && !script_.next.empty()) {
      const auto event = std::move(script_.next.front());
      script_.next.pop_front();
      event(*callbacks_);
    }
    return script_.arms && script_.next.empty();
  }
  int descriptor(std::uint32_t channel_index) const noexcept override { return doorbells_[channel_index].get(); }
  void disconnect() noexcept override {}
  const char* error() const noexcept override { return "the test says so"; }

 private:
  script& script_;
  std::array<net::unique_fd, channels_per_peer> doorbells_{net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                           net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                           net::unique_fd(::eventfd(0, EFD_CLOEXEC))};
  port_callbacks* callbacks_ = nullptr;
};

/// The frame of a message; all bytes of its payload are its sequence.
inline std::vector<std::byte> frame(std::uint32_t sequence, std::uint32_t payload_bytes = 8,
                                    channel channel = channel::application) {
  const message_header header{.payload_bytes = payload_bytes, .source = 1, .sequence = sequence, .channel = channel};
  std::vector<std::byte> bytes(sizeof header + payload_bytes, static_cast<std::byte>(sequence));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

class end_over_played_ucx : public testing::Test {
 protected:
  end_over_played_ucx() { open(endpoint_parts().idle_poll_interval); }

  void open(std::chrono::nanoseconds idle_poll_interval) {
    end_.reset();
    ucx_ = {};
    endpoint_parts parts{.rank = local_rank,
                         .end = std::make_unique<scripted_port>(ucx_),
                         .peers = std::vector<std::optional<peer_parts>>(ranks),
                         .launcher = nullptr,
                         .output_bytes_max = output_max,
                         .idle_poll_interval = idle_poll_interval};
    for (std::uint32_t peer = 1; peer < ranks; ++peer) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
      liveness_sockets_[peer].reset(ends[1]);
      parts.peers[peer] =
          peer_parts{.liveness_socket = net::unique_fd(ends[0]), .key_here = peer, .key_there = 100 + peer};
    }
    end_.emplace(std::move(parts));
  }

  void wait_for_peers() {
    for (std::uint32_t peer = 1; peer < ranks; ++peer) say(peer, ready);
    end_->wait_for_peers(std::chrono::steady_clock::now() + std::chrono::seconds(30));
  }
  void say(std::uint32_t peer, std::byte data) { EXPECT_EQ(::send(liveness_sockets_[peer].get(), &data, 1, 0), 1); }

  /// Rank 1 sends a frame with that number in its stamp.
  void arrive(std::uint32_t number, std::vector<std::byte> bytes, std::uint32_t channel_index = application,
              std::uint64_t key = 1) {
    ucx_.next.push_back([=, bytes = std::move(bytes)](port_callbacks& callbacks) {
      callbacks.arrived(channel_index, frame_kind::message, {.key = key, .source = 1, .sequence = number}, bytes);
    });
  }

  /// Rank 1 announces a frame with that number in its stamp, as rendezvous request 1 + that number.
  void announce(std::uint32_t number, std::size_t byte_count, std::uint32_t channel_index = application) {
    ucx_.next.push_back([=](port_callbacks& callbacks) {
      const auto place =
          callbacks.place_for(channel_index, frame_kind::message, {.key = 1, .source = 1, .sequence = number},
                              byte_count, {reinterpret_cast<void*>(std::uintptr_t{number} + 1)});
      EXPECT_TRUE(place.later || place.address == nullptr);
    });
  }
  /// UCX has fetched the bytes of that fetch.
  void bring(std::size_t fetch, const std::vector<std::byte>& bytes) {
    ASSERT_LT(fetch, ucx_.fetches.size());
    ASSERT_EQ(ucx_.fetches[fetch].destination.size(), bytes.size());
    std::memcpy(ucx_.fetches[fetch].destination.data(), bytes.data(), bytes.size());
    ucx_.next.push_back([request_id = ucx_.fetches[fetch].request_id](port_callbacks& callbacks) {
      callbacks.ended(request_id, true);
    });
  }

  /// Polls until UCX has no more events. Returns the sequences of the messages that have arrived.
  std::vector<std::uint32_t> receive() {
    std::vector<std::uint32_t> result;
    for (int quiet = 0; quiet < 8; quiet = ucx_.next.empty() ? quiet + 1 : 0) {
      message_list arrived;
      end_->poll(arrived, 100);
      while (const message_ptr m = arrived.pop_front()) {
        result.push_back(m->header.sequence);
        for (const std::byte each : m->payload()) EXPECT_EQ(each, static_cast<std::byte>(m->header.sequence));
      }
    }
    return result;
  }

  /// The failure of rank 1, once a wait has made the endpoint poll its control sockets.
  std::string failure_of_1() {
    end_->wait(std::chrono::nanoseconds::zero());
    receive();
    const auto seen = end_->failed();
    if (!seen) return "";
    EXPECT_EQ(seen->peer, rank_id(1));
    return seen->reason;
  }

  std::size_t submit(std::uint32_t target, std::size_t count, std::uint32_t payload_bytes, channel channel) {
    message_list batch;
    for (std::size_t i = 0; i < count; ++i) {
      message_ptr m = make_message(payload_bytes);
      m->header.channel = channel;
      batch.push_back(std::move(m));
    }
    end_->submit(rank_id(target), batch);
    return batch.size();
  }

  using sequences = std::vector<std::uint32_t>;
  script ucx_;
  std::array<net::unique_fd, ranks> liveness_sockets_;
  std::optional<ucx_endpoint> end_;
};

}  // namespace nacre::transport::ucx
