// SPDX-License-Identifier: Apache-2.0
// The guarantees of the frame reader and of the send queue.
#include "transport/tcp/frame_reader.hpp"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/tcp/send_queue.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr frame_limits small_frames{.ranks = 4, .payload_bytes_max = 1u << 20};
constexpr std::uint32_t all_but_bulk = 3;

chunk_pool chunks;

constexpr auto behind_last_kind = static_cast<message_kind>(static_cast<int>(message_kind::reply) + 1);

message_ptr sample(std::uint32_t sequence, std::size_t payload_bytes) {
  message_ptr m = make_message(payload_bytes);
  m->header.source = 3;
  m->header.sequence = sequence;
  for (std::size_t i = 0; i < payload_bytes; ++i) m->body()[i] = static_cast<std::byte>(i * 31 + sequence);
  return m;
}

std::vector<std::byte> bytes_of(const message_header& header) {
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

void append(std::vector<std::byte>& stream, std::span<const std::byte> bytes) {
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

/// Gives the reader at most `piece` bytes at a time, as a socket would.
std::optional<frame_error> feed(frame_reader& reader, std::span<const std::byte> stream, std::size_t piece,
                                message_list& arrived) {
  while (!stream.empty()) {
    const frame_reader::places places = reader.space();
    std::size_t given = 0;
    for (const std::span<std::byte> place : {places.first, places.second}) {
      const std::size_t part = std::min({place.size(), piece - given, stream.size()});
      if (part > 0) std::memcpy(place.data(), stream.data(), part);
      stream = stream.subspan(part);
      given += part;
    }
    if (const auto error = reader.filled(given, arrived)) return error;
  }
  return std::nullopt;
}

void expect_samples(message_list& arrived, std::span<const std::size_t> sizes) {
  ASSERT_EQ(arrived.size(), sizes.size());
  for (std::uint32_t i = 0; const message_ptr m = arrived.pop_front(); ++i) {
    const message_ptr wanted = sample(i, sizes[i]);
    ASSERT_EQ(m->header.payload_bytes, sizes[i]);
    ASSERT_EQ(m->header.sequence, i);
    ASSERT_EQ(std::memcmp(m->body(), wanted->body(), sizes[i]), 0) << "payload of message " << i;
  }
}

TEST(frame_reader, a_stream_cut_into_pieces_of_any_size_gives_the_same_messages) {
  const std::vector<std::size_t> sizes{0, 1, 39, 40, 5000, 16383, 16384, 70000, 3, 200000, 0, 0, 12};
  std::vector<std::byte> stream;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) append(stream, frame_of(*sample(i, sizes[i])));
  append(stream, shutdown_frame());
  for (const std::size_t piece : {1UL, 7UL, 40UL, 4096UL, 65536UL, 1000000UL}) {
    frame_reader reader(small_frames, chunks);
    message_list arrived;
    ASSERT_FALSE(feed(reader, stream, piece, arrived)) << "pieces of " << piece;
    EXPECT_TRUE(reader.ended());
    EXPECT_FALSE(reader.within_frame());
    expect_samples(arrived, sizes);
  }
}

TEST(frame_reader, a_reader_that_waits_for_more_holds_memory_only_while_a_message_is_unfinished) {
  chunk_pool own_chunks;
  message_list arrived;
  const auto read_and_rest = [&](frame_reader& reader, std::span<const std::byte> bytes) {
    EXPECT_FALSE(feed(reader, bytes, bytes.size(), arrived));
    reader.rest();
    return own_chunks.used();
  };
  {
    frame_reader reader(small_frames, own_chunks);
    EXPECT_EQ(own_chunks.used(), 0U);
    for (const std::size_t payload : {std::size_t{100}, std::size_t{100'000}}) {
      const message_ptr m = sample(0, payload);
      const std::span<const std::byte> frame = frame_of(*m);
      EXPECT_EQ(read_and_rest(reader, frame), 0U);
      EXPECT_EQ(read_and_rest(reader, frame.first(30)), 1U) << "a header without its end";
      EXPECT_EQ(read_and_rest(reader, frame.subspan(30, 60)), 1U);
      EXPECT_EQ(read_and_rest(reader, frame.subspan(90)), 0U);
    }
    EXPECT_EQ(arrived.size(), 4U);
    static_cast<void>(reader.space());
  }
  EXPECT_EQ(own_chunks.used(), 0U) << "nothing is left behind";
}

TEST(frame_reader, a_large_payload_is_read_into_its_message_and_not_into_the_buffer) {
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  const message_ptr large = sample(0, 500000);
  ASSERT_FALSE(feed(reader, frame_of(*large).first(1000), 1000, arrived));
  EXPECT_TRUE(reader.within_frame());
  EXPECT_EQ(reader.space().first.size(), 500000 - (1000 - sizeof(message_header)));
  EXPECT_EQ(reader.space().second.size(), frame_reader::short_look_bytes);
}

/// Reads a stream that is never empty, as fast as there is space, and counts the bytes that pass through the buffer.
std::size_t bytes_by_buffer(frame_reader& reader, std::span<const std::byte> stream, message_list& arrived) {
  std::size_t count = 0;
  while (!stream.empty()) {
    const frame_reader::places places = reader.space();
    const bool direct = !places.second.empty();
    const std::size_t first = std::min(places.first.size(), stream.size());
    std::memcpy(places.first.data(), stream.data(), first);
    const std::size_t second = std::min(places.second.size(), stream.size() - first);
    if (second > 0) std::memcpy(places.second.data(), stream.data() + first, second);
    count += direct ? second : first;
    stream = stream.subspan(first + second);
    EXPECT_FALSE(reader.filled(first + second, arrived));
  }
  return count;
}

TEST(frame_reader, large_payloads_behind_each_other_do_not_go_by_way_of_the_buffer) {
  const std::vector<std::size_t> sizes(50, 65536);
  std::vector<std::byte> stream;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) append(stream, frame_of(*sample(i, sizes[i])));
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  const std::size_t by_buffer = bytes_by_buffer(reader, stream, arrived);
  EXPECT_LE(by_buffer, frame_reader::buffer_bytes + sizes.size() * frame_reader::short_look_bytes);
  expect_samples(arrived, sizes);
}

TEST(frame_reader, small_frames_behind_a_large_one_are_soon_read_many_at_a_time) {
  std::vector<std::size_t> sizes(10000, 24);
  sizes[0] = 100000;
  std::vector<std::byte> stream;
  for (std::uint32_t i = 0; i < sizes.size(); ++i) append(stream, frame_of(*sample(i, sizes[i])));
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  static_cast<void>(bytes_by_buffer(reader, std::span(stream).first(200000), arrived));
  EXPECT_GT(reader.space().first.size(), frame_reader::buffer_bytes - 64)  // all but the beginning of a frame
      << "the whole buffer is offered again";
}

TEST(frame_reader, an_unfinished_frame_is_noticed_at_the_end_of_the_stream) {
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  EXPECT_FALSE(reader.within_frame());
  ASSERT_FALSE(feed(reader, frame_of(*sample(0, 10)).first(49), 100, arrived));
  EXPECT_TRUE(reader.within_frame());
  EXPECT_TRUE(arrived.empty());
}

TEST(frame_reader, each_forged_field_of_a_header_is_refused_by_its_own_name) {
  const auto error_of = [](auto forge) {
    message_header header;
    forge(header);
    frame_reader reader({.ranks = 4, .payload_bytes_max = 1u << 20, .channels = all_but_bulk}, chunks);
    message_list arrived;
    const auto result = feed(reader, bytes_of(header), 40, arrived);
    EXPECT_TRUE(arrived.empty());
    return result;
  };
  EXPECT_EQ(error_of([](auto& h) { h.payload_bytes = small_frames.payload_bytes_max + 1; }),
            frame_error::payload_too_large);
  EXPECT_EQ(error_of([](auto& h) { h.payload_bytes = ~0U; }), frame_error::payload_too_large);
  EXPECT_EQ(error_of([](auto& h) { h.kind = behind_last_kind; }), frame_error::unknown_kind);
  EXPECT_EQ(error_of([](auto& h) { h.kind = static_cast<message_kind>(254); }), frame_error::unknown_kind);
  EXPECT_EQ(error_of([](auto& h) { h.channel = static_cast<channel>(3); }), frame_error::unknown_channel);
  EXPECT_EQ(error_of([](auto& h) { h.channel = channel::bulk; }), frame_error::other_channel);
  EXPECT_EQ(error_of([](auto& h) { h.flags = 0x80; }), frame_error::unknown_flags);
  EXPECT_EQ(error_of([](auto& h) { h.source = small_frames.ranks; }), frame_error::source_out_of_range);
}

TEST(frame_reader, a_shutdown_with_anything_in_it_is_no_shutdown) {
  const auto frame = shutdown_frame();
  for (std::size_t i = 0; i < frame.size(); ++i) {
    auto forged = frame;
    forged[i] ^= std::byte{1};
    frame_reader reader(small_frames, chunks);
    message_list arrived;
    const auto result = feed(reader, forged, 40, arrived);
    EXPECT_FALSE(!result && reader.ended()) << "byte " << i;
  }
}

TEST(frame, comes_in_the_name_of_its_sender_unless_it_is_forwarded) {
  frame_limits of_peer = small_frames;
  of_peer.peer = rank_id(3);
  message_header header;
  header.source = 3;
  EXPECT_FALSE(check_header(header, of_peer));
  header.source = 2;
  EXPECT_EQ(check_header(header, of_peer), frame_error::source_forged);
  header.hops = 1;
  EXPECT_EQ(check_header(header, of_peer), frame_error::source_forged) << "messages to ranks are not forwarded";
  header.kind = message_kind::object;
  EXPECT_FALSE(check_header(header, of_peer));
}

TEST(frame_reader, nothing_is_believed_after_a_shutdown_or_an_error) {
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  ASSERT_FALSE(feed(reader, shutdown_frame(), 40, arrived));
  const auto late = feed(reader, frame_of(*sample(0, 0)), 40, arrived);
  EXPECT_EQ(late, frame_error::bytes_after_shutdown);
  EXPECT_TRUE(feed(reader, frame_of(*sample(0, 0)), 40, arrived));
  EXPECT_TRUE(arrived.empty());
}

TEST(frame_reader, messages_in_front_of_an_error_still_arrive) {
  std::vector<std::byte> stream;
  append(stream, frame_of(*sample(0, 5)));
  message_header bad;
  bad.source = 99;
  append(stream, bytes_of(bad));
  frame_reader reader(small_frames, chunks);
  message_list arrived;
  EXPECT_TRUE(feed(reader, stream, 1000, arrived));
  expect_samples(arrived, std::vector<std::size_t>{5});
}

/// Takes `bytes` bytes off the front of the send queue, as a socket would.
std::vector<std::byte> write_some(send_queue& queue, std::size_t bytes) {
  std::vector<std::byte> taken;
  std::array<iovec, 3> pieces;
  const std::size_t count = queue.front(pieces);
  for (std::size_t i = 0; i < count && taken.size() < bytes; ++i) {
    const auto* const data = static_cast<const std::byte*>(pieces[i].iov_base);
    taken.insert(taken.end(), data, data + std::min(pieces[i].iov_len, bytes - taken.size()));
  }
  queue.written(taken.size());
  return taken;
}

TEST(send_queue, gives_out_the_bytes_in_order_whatever_the_sizes_of_messages_and_writes) {
  const std::vector<std::size_t> sizes{1, 9000, 0, 8152, 8153, 100000, 7, 7, 60000, 3};
  for (const std::size_t piece : {13UL, 1000UL, 300000UL}) {
    send_queue box(chunks);
    std::vector<std::byte> expected_bytes;
    std::vector<std::byte> written;
    for (std::uint32_t i = 0; i < 40; ++i) {
      message_ptr m = sample(i, sizes[i % sizes.size()]);
      append(expected_bytes, frame_of(*m));
      box.push(std::move(m));
      append(written, write_some(box, piece));
      ASSERT_EQ(box.bytes(), expected_bytes.size() - written.size());
    }
    while (!box.empty()) append(written, write_some(box, piece));
    EXPECT_EQ(written, expected_bytes) << "writes of " << piece;
  }
}

TEST(send_queue, a_queue_holds_memory_only_for_bytes_that_wait) {
  chunk_pool own_chunks;
  {
    send_queue box(own_chunks);
    for (int burst = 0; burst < 3; ++burst) {
      for (std::uint32_t i = 0; i < 40; ++i) box.push(sample(i, 8000));
      EXPECT_GT(own_chunks.used(), 4U);
      while (!box.empty()) write_some(box, 10'000);
      EXPECT_EQ(own_chunks.used(), 0U);
    }
    box.push(sample(0, 10));
    box.clear();
    EXPECT_EQ(own_chunks.used(), 0U);
    box.push(sample(0, 10));
  }
  EXPECT_EQ(own_chunks.used(), 0U);
}

TEST(send_queue, short_messages_leave_in_one_piece) {
  send_queue box(chunks);
  for (std::uint32_t i = 0; i < 100; ++i) box.push(sample(i, 100));
  std::array<iovec, 8> pieces;
  ASSERT_EQ(box.front(pieces), 1U);
  EXPECT_EQ(pieces[0].iov_len, 100 * (100 + sizeof(message_header)));
}

TEST(send_queue, a_long_message_is_written_from_where_it_is) {
  send_queue box(chunks);
  message_ptr m = sample(0, 50000);
  const std::byte* const begin = frame_of(*m).data();
  box.push(std::move(m));
  std::array<iovec, 8> pieces;
  ASSERT_EQ(box.front(pieces), 1U);
  EXPECT_EQ(pieces[0].iov_base, begin);
}

}  // namespace
}  // namespace nacre::transport::tcp
