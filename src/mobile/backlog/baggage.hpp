// SPDX-License-Identifier: Apache-2.0
// What an object that leaves takes along of the messages that wait for it, and what goes back to who has sent it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <nacre/message.hpp>

namespace nacre {

/// Where a message is that waits for an object.
enum class waits : std::uint8_t {
  behind_join,  ///< its stream stands still for a colocation
  ready,        ///< it has its place among those that run next
  early         ///< set aside, until those before it come
};

/// Is asked about each message in the order of its stream: those behind joins, those that are ready, the early ones.
///
/// The first ones of each kind, twice as many as the object has run during its stay, go along: it will probably run
/// them soon. Of the others, those that have hardly travelled go along, so that a single move of an object is as cheap
/// as it can be. The rest goes back. So each message that is run pays for a few that are carried, and one that is not
/// among these is carried `free_travels` times at most, whatever the object does.
class baggage {
 public:
  static constexpr std::uint32_t first_min = 4;  // go along with an object that runs nothing
  static constexpr std::uint32_t free_travels = 1;

  explicit baggage(std::uint32_t ran) noexcept {
    first_.fill(std::max<std::uint64_t>(first_min, 2 * std::uint64_t{ran}));
  }

  [[nodiscard]] bool takes(const message_header& header, waits where) {
    if (!in_stream(header.kind)) return true;
    const bool admitted = where != waits::early;
    // Those behind one that does not go along would come before it.
    if (admitted && !cut_.empty() && cut_.contains(header.source)) return false;
    std::uint64_t& first = first_[static_cast<std::size_t>(where)];
    if (first > 0) {
      --first;
      return true;
    }
    if ((header.flags & flag_granted) == 0 && header.hops < free_travels) return true;
    if (admitted) cut_.emplace(header.source, header.sequence);
    return false;
  }
  /// By source, the first of its messages that does not go along although it had been admitted.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::uint32_t>& cut() const noexcept { return cut_; }

 private:
  std::array<std::uint64_t, 3> first_{};
  std::unordered_map<std::uint32_t, std::uint32_t> cut_;
};

}  // namespace nacre
