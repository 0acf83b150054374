// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection in virtual time, and a path between them that loses, doubles, delays and harms datagrams.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "transport/udp/connection.hpp"

namespace nacre::transport::udp {

using datagram_bytes = std::vector<std::byte>;

/// How a path behaves; probabilities in percent.
struct path_faults {
  std::uint32_t lost = 0;
  std::uint32_t doubled = 0;
  std::uint32_t harmed = 0;          ///< one bit is flipped, or the end is cut off
  std::uint32_t late = 0;            ///< takes up to a hundred times as long, so that others overtake it
  std::uint32_t burst = 0;           ///< begins a time in which all are lost
  std::uint32_t replayed_later = 0;  ///< comes again, much later
};

/// One direction: holds datagrams until their time.
class lossy_path {
 public:
  lossy_path(const path_faults& faults, rng& random) : faults_(faults), random_(random) {}

  void carry(datagram_bytes bytes, time_point now) {
    if (percent(faults_.burst)) dead_until_ = now + std::chrono::microseconds(random_.below(3000));
    if (now < dead_until_ || percent(faults_.lost)) return;
    if (percent(faults_.replayed_later)) put(bytes, now + std::chrono::milliseconds(1 + random_.below(50)));
    if (percent(faults_.doubled)) put(bytes, now + delay());
    if (percent(faults_.harmed)) harm(bytes);
    put(std::move(bytes), now + delay());
  }
  [[nodiscard]] time_point next() const { return under_way_.empty() ? never : under_way_.begin()->first; }
  [[nodiscard]] datagram_bytes take() {
    datagram_bytes first = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    return first;
  }

 private:
  bool percent(std::uint32_t how_often) { return random_.below(100) < how_often; }
  std::chrono::nanoseconds delay() {
    const std::chrono::microseconds usual(20 + random_.below(10));
    return percent(faults_.late) ? usual * static_cast<int>(1 + random_.below(100)) : usual;
  }
  void harm(datagram_bytes& bytes) {
    if (random_.below(2) == 0) {
      bytes.resize(random_.below(bytes.size()));
    } else {
      bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1u << random_.below(8));
    }
  }
  void put(datagram_bytes bytes, time_point time) { under_way_.emplace(time, std::move(bytes)); }

  path_faults faults_;
  rng& random_;
  time_point dead_until_{};
  std::multimap<time_point, datagram_bytes> under_way_;
};

inline datagram_key key_of(std::uint8_t number, tag_method method = tag_method::siphash) {
  job_secret::proof bytes{};
  bytes.fill(static_cast<std::byte>(number));
  return {method, bytes};
}

/// A message that tells its number; of so many bytes, all of which follow from it.
inline message_ptr told_message(channel channel, std::uint32_t number, std::uint32_t bytes) {
  message_ptr m = make_message(bytes);
  m->header.channel = channel;
  m->header.sequence = number;
  for (std::uint32_t i = 0; i < bytes; ++i) m->body()[i] = static_cast<std::byte>(number * 31 + i * 7 + (i >> 8));
  return m;
}

/// Both ends, side 0 and side 1, joined by two lossy paths.
class two_ends {
 public:
  two_ends(std::uint64_t seed, const path_faults& faults, connection_limits limits,
           tag_method method = tag_method::siphash)
      : random_(seed), paths_{lossy_path(faults, random_), lossy_path(faults, random_)} {
    limits.frames = {.ranks = 2, .payload_bytes_max = 1u << 20, .peer = std::nullopt};
    largest_ = limits.datagram_bytes;
    ends_[0] = std::make_unique<connection>(limits, key_of(1, method), key_of(2, method));
    ends_[1] = std::make_unique<connection>(limits, key_of(2, method), key_of(1, method));
  }

  [[nodiscard]] connection& at(std::size_t side) { return *ends_[side]; }
  [[nodiscard]] rng& random() { return random_; }
  [[nodiscard]] time_point now() const { return now_; }
  [[nodiscard]] std::size_t arrivals(arrival arrival) const { return arrivals_[static_cast<std::size_t>(arrival)]; }

  void send(std::size_t side, channel channel, std::uint32_t bytes) {
    message_list batch;
    std::vector<std::uint32_t>& sizes = sizes_[side][static_cast<std::size_t>(channel)];
    batch.push_back(told_message(channel, static_cast<std::uint32_t>(sizes.size()), bytes));
    sizes.push_back(bytes);
    at(side).submit(batch, ~std::uint64_t{0});
    EXPECT_TRUE(batch.empty());
  }

  /// All datagrams that may leave now, in the order in which they leave.
  [[nodiscard]] std::vector<datagram_bytes> leaving(std::size_t side) {
    std::vector<datagram_bytes> result;
    for (;;) {
      datagram_bytes next(largest_);
      datagram_pieces apart;
      const bool copies = random_.below(4) == 0;
      const std::size_t bytes = at(side).next_datagram(next, now_, copies ? nullptr : &apart);
      if (bytes == 0) return result;
      next.resize(bytes);
      for (const auto piece : apart.view()) next.insert(next.end(), piece.begin(), piece.end());
      gathered_ += apart.count != 0;
      result.push_back(std::move(next));
    }
  }
  /// Hands a datagram to one side, and checks the messages that it completes.
  arrival arrive(std::size_t side, const datagram_bytes& bytes) {
    messages_by_channel arrived;
    const arrival manner = take(at(side), bytes, arrived);
    ++arrivals_[static_cast<std::size_t>(manner)];
    for (std::size_t index = 0; index < channel_count; ++index) {
      while (const message_ptr m = arrived[index].pop_front()) check(side, static_cast<channel>(index), *m);
    }
    return manner;
  }

  /// Lets time pass until all is delivered and acknowledged, or `most` is over. Returns whether all is.
  bool run(std::chrono::nanoseconds most) {
    const time_point end = now_ + most;
    while (!over() && now_ < end && !::testing::Test::HasFailure()) step();
    return over();
  }
  [[nodiscard]] bool over() {
    return delivered(0) && delivered(1) && at(0).all_acknowledged() && at(1).all_acknowledged();
  }
  /// Whether everything that the other side has sent has come to this one.
  [[nodiscard]] bool delivered(std::size_t side) const {
    for (std::size_t index = 0; index < channel_count; ++index) {
      if (got_[side][index] != sizes_[1 - side][index].size()) return false;
    }
    return true;
  }
  /// Datagrams whose bytes left from where they lay, and those that came straight to where they belong.
  [[nodiscard]] std::size_t gathered() const { return gathered_; }
  [[nodiscard]] std::size_t landed() const { return landed_; }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  /// As a socket does: writes the datagram where the next one is expected, whatever it is.
  arrival take(connection& connection, const datagram_bytes& bytes, messages_by_channel& arrived) {
    const landing place = random_.below(8) == 0 ? landing{} : connection.next_landing();
    if (place.place.empty()) return connection.on_datagram(bytes, now_, arrived);
    const std::span<const std::byte> all(bytes);
    const std::size_t in_head = std::min(all.size(), place.head_bytes);
    const std::size_t written = std::min(all.size() - in_head, place.place.size());
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(in_head), written, place.place.begin());
    const landed_datagram split{.head = all.first(in_head), .written = written, .tail = all.subspan(in_head + written)};
    if (!connection::fits(split, place)) return connection.on_datagram(bytes, now_, arrived);
    const arrival manner = connection.on_landed(split, place, now_, arrived);
    landed_ += manner == arrival::taken;
    return manner;
  }
  void step() {
    for (std::size_t side = 0; side < 2; ++side) {
      for (datagram_bytes& each : leaving(side)) paths_[side].carry(std::move(each), now_);
    }
    now_ = std::max(now_, std::min({paths_[0].next(), paths_[1].next(), at(0).deadline(), at(1).deadline()}));
    if (now_ == never) {
      ADD_FAILURE() << "nothing can happen any more";
      return;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      while (paths_[side].next() <= now_) arrive(1 - side, paths_[side].take());
      if (at(side).deadline() <= now_) at(side).on_deadline(now_);
    }
  }
  void check(std::size_t side, channel channel, const message& m) {
    std::uint32_t& got = got_[side][static_cast<std::size_t>(channel)];
    const std::vector<std::uint32_t>& sizes = sizes_[1 - side][static_cast<std::size_t>(channel)];
    ASSERT_LT(got, sizes.size()) << "more has come than was sent";
    const message_ptr expected = told_message(channel, got, sizes[got]);
    ASSERT_EQ(std::memcmp(&m.header, &expected->header, sizeof m.header), 0) << "lost, doubled or out of order";
    ASSERT_EQ(std::memcmp(m.body(), expected->body(), sizes[got]), 0);
    ++got;
  }

  rng random_;
  std::array<lossy_path, 2> paths_;  // by the side that sends
  std::array<std::unique_ptr<connection>, 2> ends_;
  std::size_t largest_ = 0;
  time_point now_ = time_point{} + std::chrono::hours(1);
  std::array<std::array<std::vector<std::uint32_t>, channel_count>, 2> sizes_{};  // sent, by side and channel
  std::array<std::array<std::uint32_t, channel_count>, 2> got_{};                 // received, by side and channel
  std::array<std::size_t, 4> arrivals_{};
  std::size_t gathered_ = 0, landed_ = 0;
};

inline constexpr connection_limits small_datagrams{.frames = {}, .datagram_bytes = 1400, .peer_buffer_bytes = 1u << 20};

}  // namespace nacre::transport::udp
