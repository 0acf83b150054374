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
  std::uint32_t source = 0;     ///< the number of the sending node
  std::uint32_t transfer = 0;   ///< counted from 0 between two nodes for one handler and placement
  std::uint32_t total = 0;      ///< bytes of the transfer
  std::uint32_t begin = 0;      ///< the place of these bytes in it
  std::uint16_t placement = 0;  ///< the code of the placement
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
/// Numbers by key, in one flat table: 16 to 32 bytes a key. A key that was never named has the number 0.
class transfer_counts {
 public:
  [[nodiscard]] std::uint32_t& operator[](std::uint64_t key) {
    if (4 * (count_ + 1) > 3 * keys_.size()) grow();
    const std::size_t slot = slot_of(key);
    if (keys_[slot] == no_key) {
      keys_[slot] = key;
      ++count_;
    }
    return numbers_[slot];
  }
  template <class Archive>
  void save(Archive& ar) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    for (std::size_t slot = 0; slot < keys_.size(); ++slot) {
      if (keys_[slot] != no_key) all.emplace_back(keys_[slot], numbers_[slot]);
    }
    ar(all);
  }
  template <class Archive>
  void load(Archive& ar) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    ar(all);
    *this = {};
    for (const auto& [key, number] : all) (*this)[key] = number;
  }

 private:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};  // data_key makes none like it

  /// The slot of a key, or the free one where it goes.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept {
    std::size_t slot = (key * 0x9e3779b97f4a7c15) >> shift_;
    while (keys_[slot] != key && keys_[slot] != no_key) slot = (slot + 1) & (keys_.size() - 1);
    return slot;
  }
  void grow() {
    const std::vector<std::uint64_t> keys = std::exchange(keys_, {});
    const std::vector<std::uint32_t> numbers = std::exchange(numbers_, {});
    --shift_;
    keys_.resize(std::size_t{1} << (64 - shift_), no_key);
    numbers_.resize(keys_.size());
    for (std::size_t old = 0; old < keys.size(); ++old) {
      if (keys[old] == no_key) continue;
      const std::size_t slot = slot_of(keys[old]);
      keys_[slot] = keys[old];
      numbers_[slot] = numbers[old];
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> numbers_;
  std::size_t count_ = 0;
  std::uint32_t shift_ = 63;  ///< the table has 1 << (64 - shift_) slots
};

/// The transfers of a node to others and from others for the handler F. The key is the other one and the placement.
template <auto F>
struct data_streams {
  transfer_counts sent;                                                        ///< transfers
  transfer_counts handed_on;                                                   ///< transfers for which F has run
  std::map<std::uint64_t, std::map<std::uint32_t, incomplete_data>> arriving;  ///< the other ones, by their numbers
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sent, handed_on, arriving);
  }
};
[[nodiscard]] constexpr std::uint64_t data_key(std::uint32_t node, std::uint16_t position) noexcept {
  return std::uint64_t{node} << 16 | position;
}

[[nodiscard]] inline std::uint32_t node_number(const coordinates& place, const coordinates& grid) noexcept {
  const auto wide = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  return wide(place.x) + wide(grid.x) * (wide(place.y) + wide(grid.y) * wide(place.z));
}
[[nodiscard]] inline coordinates node_at(std::uint32_t number, const coordinates& grid) noexcept {
  const auto x = static_cast<std::uint32_t>(grid.x), y = static_cast<std::uint32_t>(grid.y);
  return {number % x, number / x % y, number / x / y};
}

/// Hands over the transfers of one node that are whole and have no predecessor.
template <auto F>
void hand_over(emulated_node& node, const coordinates& source, data_streams<F>& streams, std::uint64_t key) {
  using value = typename data_signature<decltype(F)>::value;
  for (;;) {
    const auto stream = streams.arriving.find(key);
    if (stream == streams.arriving.end()) return;
    const auto first = stream->second.find(streams.handed_on[key]);
    if (first == stream->second.end() || first->second.arrived != first->second.bytes.size()) return;
    std::vector<value> data(first->second.bytes.size() / sizeof(value));
    if (!data.empty()) std::memcpy(data.data(), first->second.bytes.data(), first->second.bytes.size());
    stream->second.erase(first);
    if (stream->second.empty()) streams.arriving.erase(stream);
    ++streams.handed_on[key];
    F(node, source, std::move(data));
  }
}

/// Runs where a part arrives.
template <auto F, std::size_t Bytes>
void take_part(emulated_node& node, data_part<Bytes> part) {
  data_streams<F>& streams = node.state<data_streams<F>>();
  const std::uint64_t key = data_key(part.source, part.placement);
  incomplete_data& incomplete_data = streams.arriving[key][part.transfer];
  incomplete_data.bytes.resize(part.total);
  const std::size_t count = std::min<std::size_t>(Bytes, part.total - part.begin);
  std::copy_n(part.bytes.begin(), count, incomplete_data.bytes.begin() + part.begin);
  incomplete_data.arrived += static_cast<std::uint32_t>(count);
  hand_over<F>(node, node_at(part.source, node.machine().grid), streams, key);
}

/// Sends one packet, of which `head` has all but the bytes.
template <auto F, std::size_t Bytes>
void send_part(emulated_node& node, emulated::placement placement, const coordinates& target, const data_part<0>& head,
               std::span<const std::byte> bytes) {
  data_part<Bytes> part{head.source, head.transfer, head.total, head.begin, head.placement, {}};
  std::copy(bytes.begin(), bytes.end(), part.bytes.begin());
  node.send<&take_part<F, Bytes>>(placement, target, part);
}

/// Sends data in packets of which none holds more than `most`.
template <auto F>
void send_parts(emulated_node& node, emulated::placement placement, const coordinates& target,
                std::span<const std::byte> data, std::size_t most) {
  const coordinates& grid = node.machine().grid;
  std::uint32_t& sent = node.state<data_streams<F>>().sent[data_key(node_number(target, grid), placement.code())];
  data_part<0> head{
      node_number(node.at(), grid), sent, static_cast<std::uint32_t>(data.size()), 0, placement.code(), {}};
  do {  // data without bytes takes one packet, too
    const auto bytes = data.subspan(head.begin, std::min(most, data.size() - head.begin));
    if (bytes.size() <= data_short) {
      send_part<F, data_short>(node, placement, target, head, bytes);
    } else if (bytes.size() <= data_middle) {
      send_part<F, data_middle>(node, placement, target, head, bytes);
    } else {
      send_part<F, data_long>(node, placement, target, head, bytes);
    }
    if (head.begin == 0) ++sent;  // only now, as the first packet may be refused and the handler go on
    head.begin += static_cast<std::uint32_t>(bytes.size());
  } while (head.begin < data.size());
}

}  // namespace detail

template <auto F, class Range>
void emulated_node::send_data(emulated::placement placement, const coordinates& target, const Range& data) {
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
  detail::send_parts<F>(*this, placement, target, bytes, most);
}

}  // namespace nacre
