// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job tell each other so that senders do not overrun the link to a receiver.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <nacre/flow_control.hpp>
#include <nacre/ids.hpp>

namespace nacre::flow {

using std::chrono::nanoseconds;

/// The place of a token in its life, by which stamps of one permit are compared: a lost token is replaced by one of the
/// next epoch; a pass is one grant. It also tells which token it is, and what has been sent with it.
struct token_stamp {
  std::uint32_t epoch = 0;
  std::uint64_t pass = 0;
  std::uint8_t permit = 0;  ///< of the tokens of a link, less than link_settings::permits
  std::uint64_t used = 0;   ///< bytes that have been sent with the token in this epoch

  friend bool operator==(const token_stamp& a, const token_stamp& b) noexcept {
    return a.epoch == b.epoch && a.pass == b.pass;
  }
  friend std::strong_ordering operator<=>(const token_stamp& a, const token_stamp& b) noexcept {
    return a.epoch != b.epoch ? a.epoch <=> b.epoch : a.pass <=> b.pass;
  }
};

enum class message_kind : std::uint8_t {
  request,    ///< `subject` wants the token; forwarded `number` times so far
  search,     ///< the same to all ranks, as no request has been answered
  grant,      ///< the token; `list` are the ranks that wait for it, `delay` from now its link is free
  taken,      ///< the token has come
  hint,       ///< `subject` has the token; if number > 0, the receiver of the hint stands at that place in the line
  lost,       ///< to the keeper: nobody answers
  demand,     ///< to the receiver: messages from `number` on wait, of the sizes in `list`
  allowance,  ///< from the receiver: messages from `number` on may leave, after the delays in `list`, in ns
  wanted,     ///< to the receiver: its buffers lack room for the holder's next message, of `number` bytes
  room,       ///< from the receiver: `room` bytes may be sent with the token beyond those that its stamp tells of
  arrived     ///< to the receiver: the data before this are there; behind the data on their channel. Stays last
};

/// A control message. `link` is named by the rank at its end. The stamp is the newest that the sender has seen.
struct message {
  message_kind kind{};
  rank_id link;
  rank_id subject{};
  token_stamp stamp{};
  std::uint32_t number = 0;
  nanoseconds delay{0};
  nanoseconds sent{0};  ///< a grant or allowance: when, on its sender's clock; delays count from then
  std::vector<std::uint32_t> list{};
  std::uint32_t room = 0;  ///< a grant: bytes that the receiver has room for
};

/// The part of a link's speed that may be planned with: a clock or a link that is a little slower than it is said to be
/// would let the queue at the switch grow until it overflows.
inline constexpr double usable_part = 0.99;

/// Whether the message with number `a` comes before the one with number `b`. Numbers wrap; two that are compared are
/// less than 2^31 apart.
[[nodiscard]] constexpr bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

/// The most entries of a list. A message with 12 of them has less than 100 bytes.
inline constexpr std::size_t list_max = 64;
inline constexpr std::uint32_t permits_max = 64;

/// The bytes that travel, little-endian.
[[nodiscard]] std::vector<std::byte> encode(const message& message);
/// Nothing for bytes that encode has not written.
[[nodiscard]] std::optional<message> decode(std::span<const std::byte> bytes);

/// The protocol's owner, which acts for it.
class flow_host {
 public:
  virtual void send(rank_id target, const message& message) = 0;
  /// The oldest message that waits for `target` under `policy` leaves now.
  virtual void transmit(rank_id target, flow_policy policy, const token_stamp& stamp) = 0;
  /// The bytes of messages that have come to this rank under flow control and are not done; 0 also when the rank has
  /// nothing to run, because they may wait for messages that are still to come.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }

 protected:
  ~flow_host() = default;
};

/// A link as the protocol knows it; equal on all ranks.
struct link_settings {
  double bytes_per_second = 125e6;  ///< of the link to a receiver
  std::uint64_t buffer_bytes = 0;   ///< of the switch's port at that link; 0: do not rely on any
  nanoseconds early{100'000};       ///< how long before it may be used by the next sender a token is passed on
  nanoseconds patience{1'000'000};  ///< an answer that has not come by then is lost; at least a few round trips
  std::uint64_t turn_bytes = 1;     ///< a sender passes the token on after so many bytes, if others wait
  std::uint64_t small_bytes = 512;  ///< messages up to that size leave at once
  std::uint32_t permits = 1;        ///< tokens of a link: so many senders at a time share it
  std::uint64_t receive_bytes = 0;  ///< a receiver's buffers, which its tokens carry; 0: tokens carry none

  /// The part of a link, and of its receiver, that one of its tokens stands for.
  [[nodiscard]] link_settings of_one_permit() const noexcept {
    link_settings part = *this;
    part.bytes_per_second /= permits;
    part.buffer_bytes /= permits;
    if (receive_bytes != 0) part.receive_bytes = std::max<std::uint64_t>(receive_bytes / permits, 1);
    return part;
  }

  [[nodiscard]] nanoseconds duration(std::uint64_t bytes) const noexcept {
    return nanoseconds(static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / bytes_per_second));
  }
  /// How long before the link is free a message may leave, because the port can hold it: three quarters of the
  /// buffer where the sender knows what its predecessor has done, half of it where all is only planned.
  enum class knowledge : std::uint8_t { certain, planned };
  [[nodiscard]] nanoseconds ahead(std::uint64_t bytes, knowledge facts) const noexcept {
    const std::uint64_t usable = buffer_bytes - buffer_bytes / (facts == knowledge::certain ? 4 : 2);
    return usable > bytes ? duration(usable - bytes) : nanoseconds(0);
  }
};

}  // namespace nacre::flow
