// SPDX-License-Identifier: Apache-2.0
// A script in which every rank sends numbered messages to every rank and checks those that it gets.
#include "transport/conformance/streams.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include <nacre/rng.hpp>

namespace nacre::transport::conformance {
namespace {

constexpr std::size_t payload_bytes_max = 1u << 20;
constexpr std::size_t pattern_starts = 251;

/// Random bytes; each message has a range of them, from a place that follows from its number.
const std::vector<std::byte>& pattern() {
  static const std::vector<std::byte> bytes = [] {
    rng numbers(1);
    std::vector<std::byte> result(payload_bytes_max + pattern_starts);
    for (std::byte& each : result) each = static_cast<std::byte>(numbers.next());
    return result;
  }();
  return bytes;
}

const std::byte* pattern_of(std::uint32_t sequence, rank_id source, channel channel) {
  return pattern().data() + (sequence * 7 + source.value() * 3 + static_cast<std::uint32_t>(channel)) % pattern_starts;
}

message_header header_of(rank_id source, channel channel, std::uint32_t sequence, std::uint32_t payload_bytes) {
  return {.object = ~std::uint64_t{sequence},
          .reply = std::uint64_t{sequence} << 32 | source.value(),
          .payload_bytes = payload_bytes,
          .handler = sequence * 3,
          .source = source.value(),
          .sequence = sequence,
          .epoch = sequence ^ 0x5555,
          .kind = static_cast<message_kind>(sequence % 4),
          .flags = static_cast<std::uint8_t>(sequence & message_flags_known),
          .channel = channel,
          .hops = static_cast<std::uint8_t>(sequence)};
}

}  // namespace

message_ptr numbered_message(rank_id source, channel channel, std::uint32_t sequence, std::uint32_t payload_bytes) {
  message_ptr m = make_message(payload_bytes);
  m->header = header_of(source, channel, sequence, payload_bytes);
  std::memcpy(m->body(), pattern_of(sequence, source, channel), payload_bytes);
  return m;
}

void expect_numbered(const message& m, std::uint32_t sequence, std::uint32_t payload_bytes) {
  const rank_id source(m.header.source);
  const message_header expected = header_of(source, m.header.channel, sequence, payload_bytes);
  ASSERT_EQ(m.header.sequence, sequence) << "out of order, lost or doubled";
  ASSERT_EQ(m.header.payload_bytes, payload_bytes);
  ASSERT_EQ(std::memcmp(&m.header, &expected, sizeof expected), 0) << "the header has changed on the way";
  ASSERT_TRUE(m.packed());
  ASSERT_EQ(std::memcmp(m.body(), pattern_of(sequence, source, m.header.channel), payload_bytes), 0);
}

streams::streams(rank_id own_rank, std::uint32_t size, const traffic& traffic)
    : rank_(own_rank),
      traffic_(traffic),
      outgoing_(std::size_t{size} * channel_count),
      received_(size),
      missing_(std::uint64_t{size} * channel_count * traffic.messages) {}

std::uint32_t streams::payload_bytes_of(std::uint32_t sequence) const {
  return traffic_.payload_bytes[sequence % traffic_.payload_bytes.size()];
}

rank_script::progress streams::step(endpoint& local_end) {
  const bool sent = send(local_end);
  const bool took = take(local_end);
  EXPECT_FALSE(local_end.failed()) << "all ranks are well";
  if (sent || took) return progress::moving;
  for (const outgoing& each : outgoing_) {
    if (!each.batch.empty() || each.count < traffic_.messages) return progress::idle;
  }
  return missing_ == 0 && !local_end.unsent() ? progress::done : progress::idle;
}

bool streams::send(endpoint& endpoint) {
  bool moved = false;
  for (std::uint32_t index = 0; index < outgoing_.size(); ++index) {
    outgoing& outgoing = outgoing_[index];
    const auto traffic_channel = static_cast<channel>(index % channel_count);
    if (outgoing.batch.empty()) {
      for (std::uint32_t i = 0; i < traffic_.batch && outgoing.count < traffic_.messages; ++i, ++outgoing.count) {
        outgoing.batch.push_back(
            numbered_message(rank_, traffic_channel, outgoing.count, payload_bytes_of(outgoing.count)));
      }
    }
    const std::size_t previous = outgoing.batch.size();
    if (previous == 0) continue;
    endpoint.submit(rank_id(index / channel_count), outgoing.batch);
    moved |= outgoing.batch.size() < previous;
  }
  return moved;
}

bool streams::take(endpoint& endpoint) {
  message_list arrived;
  const bool moved = endpoint.poll(arrived, 256);
  while (const message_ptr m = arrived.pop_front()) {
    EXPECT_LT(m->header.source, received_.size());
    EXPECT_LT(static_cast<std::size_t>(m->header.channel), channel_count);
    if (::testing::Test::HasFailure()) return false;
    std::uint32_t& received = received_[m->header.source][static_cast<std::size_t>(m->header.channel)];
    EXPECT_LT(received, traffic_.messages) << "more has come than was sent";
    expect_numbered(*m, received, payload_bytes_of(received));
    ++received;
    --missing_;
  }
  return moved;
}

rank_scripts everyone_sends(std::uint32_t size, const traffic& traffic) {
  rank_scripts result;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    result.push_back(std::make_unique<streams>(rank_id(rank), size, traffic));
  }
  return result;
}

}  // namespace nacre::transport::conformance
