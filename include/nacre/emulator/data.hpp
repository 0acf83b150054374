// SPDX-License-Identifier: Apache-2.0
// Data that is longer than a packet: it travels in parts, and arrives as a whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/emulator/node.hpp>
#include <nacre/error.hpp>

namespace nacre {
namespace detail {

/// The signature of a handler of data.
template <class Signature>
struct data_signature {
  static_assert(!std::is_same_v<Signature, Signature>,
                "a handler of data is a function void f(nacre::emulated_node& here, const nacre::coordinates& from, "
                "std::vector<T> data)");
};
template <class T>
struct data_signature<void (*)(emulated_node&, const coordinates&, std::vector<T>)> {
  using value = T;
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && !std::is_same_v<T, bool>,
                "the values of data between nodes are trivially copyable, because they travel in packets, have a "
                "default constructor, and are no bool");
};
template <class T>
struct data_signature<void (*)(emulated_node&, const coordinates&, std::vector<T>) noexcept>
    : data_signature<void (*)(emulated_node&, const coordinates&, std::vector<T>)> {};

/// One packet of a transfer.
template <std::size_t Bytes>
struct data_part {
  std::uint32_t from = 0;      ///< the number of the sending node
  std::uint32_t transfer = 0;  ///< counted from 0 between two nodes for one handler and placement
  std::uint32_t total = 0;     ///< bytes of the transfer
  std::uint32_t begin = 0;     ///< the place of these bytes in it
  std::uint16_t where = 0;     ///< the code of the placement
  std::array<std::byte, Bytes> bytes{};
};
/// The bytes of data in a packet.
inline constexpr std::size_t data_long = 110, data_middle = 46, data_short = 14;
static_assert(sizeof(data_part<data_long>) == packet_bytes_max && sizeof(data_part<data_middle>) == 64 &&
              sizeof(data_part<data_short>) == 32);

/// A transfer of which parts are missing, or which comes before its predecessor is complete.
struct incomplete_data {
  std::uint32_t arrived = 0;  ///< bytes
  std::vector<std::byte> bytes;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(arrived, bytes);
  }
};
/// The transfers of one node to another, for one placement.
struct data_stream {
  std::uint32_t next = 0;  ///< the transfer that is handed over next
  std::map<std::uint32_t, incomplete_data> transfers;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, transfers);
  }
};
/// The transfers of a node to others and from others for the handler F. The key is the other one and the placement.
template <auto F>
struct data_streams {
  std::map<std::uint64_t, std::uint32_t> sent;  ///< transfers
  std::map<std::uint64_t, data_stream> arriving;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sent, arriving);
  }
};
[[nodiscard]] constexpr std::uint64_t data_key(std::uint32_t node, std::uint16_t where) noexcept {
  return std::uint64_t{node} << 16 | where;
}

[[nodiscard]] inline std::uint32_t node_number(const coordinates& at, const coordinates& grid) noexcept {
  const auto wide = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  return wide(at.x) + wide(grid.x) * (wide(at.y) + wide(grid.y) * wide(at.z));
}
[[nodiscard]] inline coordinates node_at(std::uint32_t number, const coordinates& grid) noexcept {
  const auto x = static_cast<std::uint32_t>(grid.x), y = static_cast<std::uint32_t>(grid.y);
  return {number % x, number / x % y, number / x / y};
}

/// Hands over the transfers that are whole and have no predecessor.
template <auto F>
void hand_over(emulated_node& here, const coordinates& from, data_stream& stream) {
  using value = typename data_signature<decltype(F)>::value;
  const auto is_whole = [&](auto at) {
    return at != stream.transfers.end() && at->second.arrived == at->second.bytes.size();
  };
  for (auto at = stream.transfers.find(stream.next); is_whole(at); at = stream.transfers.find(stream.next)) {
    std::vector<value> data(at->second.bytes.size() / sizeof(value));
    if (!data.empty()) std::memcpy(data.data(), at->second.bytes.data(), at->second.bytes.size());
    stream.transfers.erase(at);
    ++stream.next;
    F(here, from, std::move(data));
  }
}

/// Runs where a part arrives.
template <auto F, std::size_t Bytes>
void take_part(emulated_node& here, data_part<Bytes> part) {
  data_stream& stream = here.state<data_streams<F>>().arriving[data_key(part.from, part.where)];
  incomplete_data& into = stream.transfers[part.transfer];
  into.bytes.resize(part.total);
  const std::size_t count = std::min<std::size_t>(Bytes, part.total - part.begin);
  std::copy_n(part.bytes.begin(), count, into.bytes.begin() + part.begin);
  into.arrived += static_cast<std::uint32_t>(count);
  hand_over<F>(here, node_at(part.from, here.machine().grid), stream);
}

/// Sends one packet, of which `head` has all but the bytes.
template <auto F, std::size_t Bytes>
void send_part(emulated_node& here, emulated::placement where, const coordinates& to, const data_part<0>& head,
               std::span<const std::byte> bytes) {
  data_part<Bytes> part{head.from, head.transfer, head.total, head.begin, head.where, {}};
  std::copy(bytes.begin(), bytes.end(), part.bytes.begin());
  here.send<&take_part<F, Bytes>>(where, to, part);
}

/// Sends data in packets of which none holds more than `most`.
template <auto F>
void send_parts(emulated_node& here, emulated::placement where, const coordinates& to, std::span<const std::byte> data,
                std::size_t most) {
  const coordinates& grid = here.machine().grid;
  std::uint32_t& sent = here.state<data_streams<F>>().sent[data_key(node_number(to, grid), where.code())];
  data_part<0> head{node_number(here.at(), grid), sent, static_cast<std::uint32_t>(data.size()), 0, where.code(), {}};
  do {  // data without bytes takes one packet, too
    const auto bytes = data.subspan(head.begin, std::min(most, data.size() - head.begin));
    if (bytes.size() <= data_short) {
      send_part<F, data_short>(here, where, to, head, bytes);
    } else if (bytes.size() <= data_middle) {
      send_part<F, data_middle>(here, where, to, head, bytes);
    } else {
      send_part<F, data_long>(here, where, to, head, bytes);
    }
    if (head.begin == 0) ++sent;  // only now, as the first packet may be refused and the handler go on
    head.begin += static_cast<std::uint32_t>(bytes.size());
  } while (head.begin < data.size());
}

}  // namespace detail

template <auto F, class Range>
void emulated_node::send_data(emulated::placement where, const coordinates& to, const Range& data) {
  using value = typename detail::data_signature<decltype(F)>::value;
  const std::span<const value> values(data);
  const std::span<const std::byte> bytes = std::as_bytes(values);
  constexpr std::size_t bytes_max = 0xffff'0000;
  if (bytes.size() > bytes_max) {
    throw usage_error("data between nodes is longer than " + std::to_string(bytes_max) + " bytes: send it in pieces");
  }
  const std::uint32_t packet = machine().packet_bytes;
  if (packet < sizeof(detail::data_part<detail::data_short>)) {
    throw usage_error("send_data needs packets of 32 bytes, and those of this machine hold " + std::to_string(packet) +
                      ": set packet_bytes = 32 or more");
  }
  const std::size_t most = packet >= 128 ? detail::data_long : packet >= 64 ? detail::data_middle : detail::data_short;
  detail::send_parts<F>(*this, where, to, bytes, most);
}

}  // namespace nacre
