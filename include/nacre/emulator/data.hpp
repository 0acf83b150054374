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
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "the values of data between nodes are trivially copyable, because they travel in packets");
};

/// One packet of a transfer.
template <std::size_t Bytes>
struct data_part {
  std::uint32_t from = 0;      ///< the number of the sending node
  std::uint32_t transfer = 0;  ///< counted from 0 between two nodes for one handler
  std::uint32_t total = 0;     ///< bytes of the transfer
  std::uint32_t begin = 0;     ///< the place of these bytes in it
  std::array<std::byte, Bytes> bytes{};
};
static_assert(sizeof(data_part<112>) == packet_bytes_max);

/// A transfer of which parts are missing, or which comes before its predecessor is complete.
struct incomplete_data {
  std::uint32_t arrived = 0;  ///< bytes
  std::vector<std::byte> bytes;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(arrived, bytes);
  }
};
/// The transfers of one node to another.
struct data_stream {
  std::uint32_t next = 0;  ///< the transfer that is handed over next
  std::map<std::uint32_t, incomplete_data> transfers;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, transfers);
  }
};
/// The transfers of a node to others and from others, by their numbers, for the handler F.
template <auto F>
struct data_streams {
  std::map<std::uint32_t, std::uint32_t> sent;  ///< transfers
  std::map<std::uint32_t, data_stream> arriving;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sent, arriving);
  }
};

[[nodiscard]] inline std::uint32_t node_number(const coordinates& at, const coordinates& grid) noexcept {
  const auto wide = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  return wide(at.x) + wide(grid.x) * (wide(at.y) + wide(grid.y) * wide(at.z));
}
[[nodiscard]] inline coordinates node_at(std::uint32_t number, const coordinates& grid) noexcept {
  const auto x = static_cast<std::uint32_t>(grid.x), y = static_cast<std::uint32_t>(grid.y);
  return {number % x, number / x % y, number / x / y};
}

/// Runs where a part arrives: keeps it, and hands over what is whole and has no predecessor.
template <auto F, std::size_t Bytes>
void take_part(emulated_node& here, data_part<Bytes> part) {
  using value = typename data_signature<decltype(F)>::value;
  data_stream& stream = here.state<data_streams<F>>().arriving[part.from];
  incomplete_data& into = stream.transfers[part.transfer];
  into.bytes.resize(part.total);
  const std::size_t count = std::min<std::size_t>(Bytes, part.total - part.begin);
  std::copy_n(part.bytes.begin(), count, into.bytes.begin() + part.begin);
  into.arrived += static_cast<std::uint32_t>(count);
  for (auto at = stream.transfers.find(stream.next);
       at != stream.transfers.end() && at->second.arrived == at->second.bytes.size();
       at = stream.transfers.find(stream.next)) {
    const std::vector<std::byte> whole = std::move(at->second.bytes);
    stream.transfers.erase(at);
    ++stream.next;
    std::vector<value> data(whole.size() / sizeof(value));
    if (!data.empty()) std::memcpy(data.data(), whole.data(), whole.size());
    F(here, node_at(part.from, here.machine().grid), std::move(data));
  }
}

/// Sends data in packets whose payload is Bytes and a head of 16 bytes.
template <auto F, std::size_t Bytes>
void send_parts(emulated_node& here, emulated::placement where, const coordinates& to,
                std::span<const std::byte> data) {
  const coordinates& grid = here.machine().grid;
  data_part<Bytes> part{.from = node_number(here.at(), grid), .total = static_cast<std::uint32_t>(data.size())};
  part.transfer = here.state<data_streams<F>>().sent[node_number(to, grid)]++;
  do {  // data without bytes takes one packet, too
    const std::size_t count = std::min(Bytes, data.size() - part.begin);
    std::copy_n(data.begin() + part.begin, count, part.bytes.begin());
    here.send<&take_part<F, Bytes>>(where, to, part);
    part.begin += static_cast<std::uint32_t>(count);
  } while (part.begin < data.size());
}

}  // namespace detail

template <auto F, class Range>
void emulated_node::send_data(emulated::placement where, const coordinates& to, const Range& data) {
  using value = typename detail::data_signature<decltype(F)>::value;
  const std::span<const value> values(data);
  const std::span<const std::byte> bytes = std::as_bytes(values);
  if (bytes.size() > 0xffff'0000)
    throw usage_error("data between nodes is longer than 4 GiB: send it in several pieces");
  const std::uint32_t packet = machine().packet_bytes;
  if (packet >= 128) return detail::send_parts<F, 112>(*this, where, to, bytes);
  if (packet >= 64) return detail::send_parts<F, 48>(*this, where, to, bytes);
  return detail::send_parts<F, 16>(*this, where, to, bytes);
}

}  // namespace nacre
