// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams between two ranks: sealed and opened, without I/O.
#include "transport/udp/unreliable_link.hpp"

#include <algorithm>
#include <cstring>

#include <nacre/assert.hpp>

namespace nacre::transport::udp {

bool replay_window::accept(std::uint64_t number) noexcept {
  if (number >= end_) {
    const std::uint64_t skipped = number - end_;
    if (skipped >= kept) {
      seen_.reset();
    } else {
      for (std::uint64_t each = end_; each < number; ++each) seen_.reset(each % kept);
    }
    end_ = number + 1;
    seen_.set(number % kept);
    return true;
  }
  if (end_ - number > kept || seen_.test(number % kept)) return false;
  seen_.set(number % kept);
  return true;
}

unreliable_link::head unreliable_link::seal(std::uint32_t label, byte_pieces bytes) {
  NACRE_EXPECT(bytes_in(bytes) <= bytes_max_, "a datagram has at most bytes_max bytes");
  const unreliable_head unreliable_head{.number = next_number_++, .label = label};
  const datagram_tag tag = outgoing_.tag_apart(unreliable_head, bytes);
  head result;
  std::memcpy(result.data(), tag.data(), tag.size());
  write_unreliable_head(unreliable_head, result);
  return result;
}

std::optional<unreliable_link::opened> unreliable_link::open(std::span<const std::byte> datagram) noexcept {
  const auto head = read_unreliable_head(datagram);
  if (!head) return std::nullopt;
  const auto bytes = datagram.subspan(unreliable_head_bytes);
  datagram_tag claimed;
  std::memcpy(claimed.data(), datagram.data(), claimed.size());
  if (!incoming_.verify_apart(*head, bytes, claimed) || !taken_.accept(head->number)) return std::nullopt;
  return opened{.label = head->label, .bytes = bytes};
}

}  // namespace nacre::transport::udp
