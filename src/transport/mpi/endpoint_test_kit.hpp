// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint over a scripted MPI.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/compact_header.hpp"
#include "transport/mpi/endpoint.hpp"

namespace nacre::transport::mpi {

inline constexpr rank_id local_rank{0};
inline constexpr std::uint32_t size = 3;
inline constexpr slot_shape shape{.slots = 4, .bytes = 256};
inline constexpr std::uint32_t long_payload = 1000;

/// The calls that the endpoint has made to MPI, and the test's answers.
struct script {
  struct fragment {
    std::uint32_t channel_index, source;
    std::vector<std::byte> bytes;
    std::uint32_t word = 0;
  };
  struct call {
    std::string operation;  // send, matched, payload, receive
    transfer_request request;
    std::span<const std::byte> bytes;
    std::span<std::byte> room;
  };
  std::deque<fragment> arriving;
  std::vector<call> calls;
  std::deque<std::uint64_t> complete;  // request ids
  std::uint32_t failing = 0;           // how many of the last ones end with an error
  bool fragments_leave_at_once = true;
  bool receiving_fails = false;
  bool carries_words = true;
  std::string sends_fail_to;                             // "1"
  bool echoes = false;                                   // rank 1 sends fragments back
  std::array<std::uint32_t, channels_per_peer> looks{};  // by channel

  [[nodiscard]] std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [&](const call& c) { return c.operation == name; }));
  }
};

class scripted_port final : public port {
 public:
  explicit scripted_port(script& script) : script_(script) {}

  outcome next(arrived_fragment& fragment, std::uint32_t channel_index) noexcept override {
    ++script_.looks[channel_index];
    if (script_.receiving_fails) return outcome::failed;
    position_ = std::find_if(script_.arriving.begin(), script_.arriving.end(),
                             [&](const script::fragment& each) { return each.channel_index == channel_index; });
    if (position_ == script_.arriving.end()) return outcome::nothing;
    const script::fragment& front = *position_;
    fragment = {front.channel_index, front.source, static_cast<std::uint32_t>(front.bytes.size()), front.word};
    return outcome::done;
  }
  void take(const arrived_fragment& fragment, std::byte* target) noexcept override {
    const std::vector<std::byte>& bytes = position_->bytes;
    EXPECT_EQ(fragment.byte_count, bytes.size());
    std::copy(bytes.begin(), bytes.end(), target);
    script_.arriving.erase(position_);
  }
  bool carries_words() const noexcept override { return script_.carries_words; }
  outcome send(const transfer_request& request, std::span<const std::byte> fragment,
               completion completion) noexcept override {
    if (script_.sends_fail_to == std::to_string(request.peer)) return outcome::failed;
    if (script_.echoes) {
      script_.arriving.push_back(
          {request.channel_index, request.peer, {fragment.begin(), fragment.end()}, request.word});
      return outcome::done;
    }
    script_.calls.push_back({completion == completion::matched ? "matched" : "send", request, fragment, {}});
    return completion == completion::buffered && script_.fragments_leave_at_once ? outcome::done : outcome::pending;
  }
  outcome send_payload(const transfer_request& request, std::span<const std::byte> body) noexcept override {
    script_.calls.push_back({"payload", request, body, {}});
    return outcome::pending;
  }
  outcome receive_payload(const transfer_request& request, std::span<std::byte> body) noexcept override {
    script_.calls.push_back({"receive", request, {}, body});
    return outcome::pending;
  }
  completions completed(std::span<std::uint64_t> request_ids) noexcept override {
    completions result;
    for (; result.count < request_ids.size() && !script_.complete.empty(); script_.complete.pop_front()) {
      request_ids[result.count++] = script_.complete.front();
    }
    result.failed = std::min(std::exchange(script_.failing, 0), result.count);
    return result;
  }
  const char* error() const noexcept override { return "MPI_Pretend: MPI_ERR_OTHER: the test says so"; }

 private:
  script& script_;
  std::deque<script::fragment>::iterator position_;
};

inline message_ptr numbered(std::uint32_t sequence, std::uint32_t payload_bytes,
                            channel channel = channel::application) {
  message_ptr m = make_message(payload_bytes);
  m->header.sequence = sequence;
  m->header.source = 1;
  m->header.channel = channel;
  std::memset(m->body(), static_cast<int>(sequence), payload_bytes);
  return m;
}

class end_over_script : public testing::Test {
 protected:
  script mpi;
  settings end_settings{.shape = shape,
                        .output_bytes_max = 64 * 1024,
                        .stall_timeout = std::chrono::hours(1),
                        .idle_poll_interval = std::chrono::nanoseconds::zero(),
                        .tells_of_failure = false,
                        .patience_in_failure = std::chrono::nanoseconds::zero()};
  mpi_endpoint end{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                   end_settings};

  /// A message from rank 1 as its fragments travel: eager, or as a rendezvous request.
  void arrive(std::uint32_t sequence, std::uint32_t payload_bytes, channel channel = channel::application) {
    const message_ptr m = numbered(sequence, payload_bytes, channel);
    const std::byte* const frame = m->body() - header_bytes;
    const bool whole = header_bytes + payload_bytes <= shape.bytes - slot_bytes_spared;
    mpi.arriving.push_back({static_cast<std::uint32_t>(channel), 1,
                            std::vector<std::byte>(frame, frame + header_bytes + (whole ? payload_bytes : 0))});
  }
  /// The payload of that receive has arrived.
  void complete_payload(std::size_t index) {
    std::vector<script::call> receives;
    for (const auto& each : mpi.calls) {
      if (each.operation == "receive") receives.push_back(each);
    }
    std::memset(receives.at(index).room.data(), 0x5a, receives.at(index).room.size());
    mpi.complete.push_back(receives.at(index).request.request_id);
  }
  std::vector<std::uint32_t> polled() {
    message_list arrived;
    for (int poll = 0; poll < 20; ++poll) end.poll(arrived, 100);
    std::vector<std::uint32_t> sequences;
    while (const message_ptr m = arrived.pop_front()) sequences.push_back(m->header.sequence);
    return sequences;
  }
  std::size_t submit(std::uint32_t count, std::uint32_t payload_bytes, channel channel = channel::application) {
    message_list batch;
    for (std::uint32_t i = 0; i < count; ++i) batch.push_back(numbered(i, payload_bytes, channel));
    end.submit(rank_id(1), batch);
    return count - batch.size();
  }
  void complete_all(const std::string& name) {
    for (const auto& each : mpi.calls) {
      if (each.operation == name) mpi.complete.push_back(each.request.request_id);
    }
    mpi.calls.clear();
  }
};

using sequences = std::vector<std::uint32_t>;

}  // namespace nacre::transport::mpi
