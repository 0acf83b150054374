// SPDX-License-Identifier: Apache-2.0
// The streams of an object, found by the rank that sends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre {

/// The messages of one rank to one object, as the object sees them.
struct stream {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t source = nobody;
  std::uint32_t next = 0;
  std::uint32_t told_epoch = 0;
};

/// Streams in the order in which they were first needed. Few are searched one by one; many have an index, a hash table
/// with linear probing, of 4 to 16 bytes each. So a rank is found, and a new one added, in constant time. Not
/// thread-safe.
class stream_table {
 public:
  [[nodiscard]] bool empty() const noexcept { return streams_.empty(); }
  [[nodiscard]] const std::vector<stream>& all() const noexcept { return streams_; }
  /// Null when there is none.
  [[nodiscard]] const stream* find(std::uint32_t source);
  /// The stream of that rank, added if there is none. It stays in place until another one is added.
  [[nodiscard]] stream& of(std::uint32_t source);
  /// Whether each rank is there once, all are below `ranks`, and none is `other`.
  [[nodiscard]] bool sound(std::uint32_t ranks, std::uint32_t other);

  /// Streams that have been looked at or put into the index since the beginning. For tests.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  /// Read into a new table only.
  template <class Archive>
  void serialize(Archive& ar) {
    ar(streams_);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t searched_max = 8;  // without an index: they lie in two cache lines
  [[nodiscard]] std::uint32_t position_of(std::uint32_t source);
  [[nodiscard]] std::uint32_t& slot_of(std::uint32_t source) noexcept;
  void build_index();

  std::vector<stream> streams_;
  std::vector<std::uint32_t> index_;  // positions; at most half full; empty while there are few
  std::uint32_t recent_ = 0;          // position of the stream that was used last
  std::uint64_t steps_ = 0;
};

}  // namespace nacre
