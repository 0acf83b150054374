// SPDX-License-Identifier: Apache-2.0
// The choice of waiting messages that a leaving object takes along; the others go back to their senders.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <nacre/message.hpp>

#include "mobile/entry/restored_flag.hpp"
#include "mobile/entry/source_windows.hpp"

namespace nacre {

/// The place of a message that waits for an object.
enum class waits : std::uint8_t {
  behind_join,  ///< its stream is blocked for a colocation
  ready,        ///< in sequence, among the messages that run next
  early         ///< set aside, until the messages before it come
};

/// Decides on each message, in the order of its stream: first messages behind joins, then ready ones, then early ones.
///
/// The first messages of each kind, twice as many as the object has run during its stay, go along: it will probably run
/// them soon. Of the others, those that have hardly travelled go along, so that a single move of an object is as cheap
/// as possible. The rest goes back. So the messages carried are a small multiple of the messages run, and any other
/// message is carried at most `free_travels` times, however the object moves.
class baggage {
 public:
  static constexpr std::uint32_t first_min = 4;  // go along even if the object has run none
  static constexpr std::uint32_t free_travels = 1;

  explicit baggage(std::uint32_t ran) noexcept {
    first_.fill(std::max<std::uint64_t>(first_min, 2 * std::uint64_t{ran}));
  }

  [[nodiscard]] bool takes(const message_header& header, waits waits) {
    if (!in_stream(header.kind) || (header.flags & flag_restored) != 0) return true;
    const bool admitted = waits != waits::early;
    if (admitted && is_cut_off(header)) return false;
    std::uint64_t& first = first_[static_cast<std::size_t>(waits)];
    if (first > 0) {
      --first;
      return true;
    }
    if ((header.flags & flag_granted) == 0 && header.hops < free_travels) return true;
    if (admitted) cut_.emplace(header.source, header.sequence);
    return false;
  }
  /// Whether an earlier message of the same stream stays behind. Then this one must stay, too, or it would overtake it.
  [[nodiscard]] bool is_cut_off(const message_header& header) const noexcept {
    if (cut_.empty()) return false;
    const auto match = cut_.find(header.source);
    return match != cut_.end() && is_before(match->second, header.sequence);
  }
  /// By source: its first admitted message that does not go along.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::uint32_t>& cut() const noexcept { return cut_; }

 private:
  std::array<std::uint64_t, 3> first_{};
  std::unordered_map<std::uint32_t, std::uint32_t> cut_;
};

}  // namespace nacre
