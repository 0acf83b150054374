// SPDX-License-Identifier: Apache-2.0
// Unreliable messages in fragments: cut for datagrams at the sender, put together at the receiver. Without I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <nacre/core.hpp>
#include <nacre/message.hpp>

namespace nacre {

/// The fields in front of the bytes of each fragment: 32 bytes, little-endian.
struct fragment_head {
  std::uint64_t number = 0;          ///< a sender uses each number for one message
  std::uint32_t message_bytes = 0;   ///< the payload of the whole message
  std::uint32_t offset = 0;          ///< of this fragment in it
  std::uint32_t fragment_bytes = 0;  ///< of all fragments but the last
  std::uint32_t handler = 0;
  std::uint8_t flags = 0;  ///< of message_flag: flag_communication or none
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(fragment_head) == 32);

/// A message that leaves in fragments, from the places where its bytes lie.
class outgoing_fragments {
 public:
  /// `parts`: the bytes of the message, in order. They and their list outlive this object. `datagram_bytes`: the most
  /// bytes of a fragment with its head.
  outgoing_fragments(const fragment_head& head, std::span<const std::span<const std::byte>> parts,
                     std::size_t datagram_bytes, std::uint32_t first_offset = 0) noexcept;

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// The bytes that have left.
  [[nodiscard]] std::uint32_t offset() const noexcept { return head_.offset; }
  /// The next fragment, head included, in at most `pieces_max` pieces, which are valid until the next call. Bytes that
  /// lie in more places are copied together.
  [[nodiscard]] std::span<const std::span<const std::byte>> pieces();
  /// The fragment of `pieces` has left.
  void advance() noexcept;

  static constexpr std::size_t pieces_max = 4;

 private:
  [[nodiscard]] std::uint32_t length() const noexcept;
  void copy_together(std::uint32_t bytes);

  fragment_head head_;
  std::span<const std::span<const std::byte>> parts_;
  std::size_t part_ = 0;     // where the next fragment begins: in which part,
  std::size_t in_part_ = 0;  // and where in it
  bool is_done_ = false;
  std::array<std::span<const std::byte>, pieces_max> pieces_{};
  std::vector<std::byte> copied_;
};

/// Puts messages together. Their fragments come in any order, each once or never.
///
/// | a fragment | then |
/// |---|---|
/// | is the whole message | that is complete, and nothing is kept |
/// | is the last one that was missing | the message is complete |
/// | of a message with others missing | it is kept |
/// | does not fit its own head or those that came before, or has come already | it is malformed |
///
/// While more than `bytes_max` are kept the oldest incomplete message is given up. Fragments of such a message begin it
/// anew; it stays incomplete until it is the oldest again, because those that came before do not come again. So no
/// message is complete twice.
class incoming_fragments {
 public:
  explicit incoming_fragments(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  struct outcome {
    message_ptr whole{};        ///< the complete message, of which payload_bytes, handler, flags and source are set
    bool is_malformed = false;  ///< no sender writes such a fragment
  };
  /// `datagram`: a fragment with its head.
  [[nodiscard]] outcome take(rank_id source, std::span<const std::byte> datagram);

  /// The bytes of all incomplete messages.
  [[nodiscard]] std::uint64_t kept_bytes() const noexcept { return kept_bytes_; }
  /// The messages that were given up.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

 private:
  using key = std::pair<rank_id, std::uint64_t>;
  struct incomplete {
    key name;
    fragment_head head;  // of the first fragment that came
    message_ptr m;
    std::vector<bool> has_come;  // by fragment
    std::size_t missing = 0;
  };
  [[nodiscard]] static bool fits(const fragment_head& head, std::size_t bytes) noexcept;
  [[nodiscard]] incomplete& begin(const key& name, const fragment_head& head);
  void remove(std::list<incomplete>::iterator position);

  const std::uint64_t bytes_max_;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t given_up_ = 0;
  std::list<incomplete> by_age_;  // oldest first
  std::map<key, std::list<incomplete>::iterator> by_name_;
};

}  // namespace nacre
