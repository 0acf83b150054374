// SPDX-License-Identifier: Apache-2.0
// How many messages of one extension module are under way between ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <span>
#include <unordered_map>

#include <nacre/extension_module.hpp>

#include "backplane/extension/extension_link.hpp"

namespace nacre {

/// | at the sender | control message | datagram that travels as a message |
/// |---|---|---|
/// | less than the window under way | leaves | leaves |
/// | the window is full | waits in the module's heap | is dropped |
/// | told that some are handled | those that wait leave, in order | - |
///
/// The receiver counts the messages that it has handled, and tells a quarter of a window at a time; at its end, all.
/// A peer that tells of more than it was sent opens a window at most. Datagrams that travel as such have no window: a
/// lost one would never leave it. Inside the poll loop only.
class peer_windows {
 public:
  static constexpr std::uint32_t controls_max = 256, datagrams_max = 64;

  /// `module`: its number. `heap`: what waits is kept there.
  peer_windows(extension_link& link, std::uint64_t module, std::pmr::memory_resource* heap)
      : link_(link), module_(module), all_(heap) {}

  void send_control(rank_id target, std::span<const std::byte> bytes);
  /// False: dropped.
  [[nodiscard]] bool send_datagram(rank_id target, std::span<const std::byte> bytes);
  /// Makes sure that the counts of a peer exist. Throws std::bad_alloc when the heap has no room for them.
  void expect(rank_id source) { static_cast<void>(of(source)); }
  /// A message of a peer that was expected has been handled.
  void note_control(rank_id source);
  void note_datagram(rank_id source);
  /// The peer has handled so many messages of this module, or of one before it that had its name.
  void take_handled(rank_id source, std::uint32_t controls, std::uint32_t datagrams);
  /// Tells each peer what it has not been told yet.
  void tell_all();

 private:
  struct small_message {
    std::uint8_t bytes = 0;
    std::array<std::byte, extension_host::control_bytes_max> content;
  };
  struct peer {
    explicit peer(std::pmr::memory_resource* heap) : waiting(heap) {}
    std::uint32_t controls = 0, datagrams = 0;                  // sent there and not handled, as far as known
    std::uint32_t handled_controls = 0, handled_datagrams = 0;  // of its messages, not told yet
    std::pmr::list<small_message> waiting;
  };
  /// Most messages go to the rank of the last one, or come from it.
  [[nodiscard]] peer& of(rank_id rank) { return last_ != nullptr && last_rank_ == rank ? *last_ : find(rank); }
  [[nodiscard]] peer& find(rank_id rank);
  void tell(rank_id target, peer& peer);

  extension_link& link_;
  const std::uint64_t module_;
  std::pmr::unordered_map<std::uint32_t, peer> all_;
  peer* last_ = nullptr;  // of last_rank_; null: none
  rank_id last_rank_;
};

}  // namespace nacre
