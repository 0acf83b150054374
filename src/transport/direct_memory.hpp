// SPDX-License-Identifier: Apache-2.0
// Direct memory: copies between the memories of two ranks without messages, an optional interface of a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nacre/ids.hpp>

namespace nacre::transport {

/// Names a region of memory to the one peer that it was registered for, and to nobody else. Travels in messages.
struct registered_region {
  std::uint64_t id = 0;       ///< never given twice by a rank while a peer may use it
  std::uint64_t address = 0;  ///< in the process of the owner; for the transport

  friend bool operator==(const registered_region&, const registered_region&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(id, address);
  }
};

/// The direction of a copy, as seen by the rank that copies.
enum class copy_way : std::uint8_t {
  from_region,  ///< out of the peer's region into its own memory
  to_region     ///< out of its own memory into the peer's region
};

/// A copy that a rank asks for, between its own memory and a region that a peer has registered for it.
struct direct_copy {
  rank_id peer;  ///< the owner of the region
  registered_region region;
  copy_way way = copy_way::from_region;
  std::span<std::byte> local_memory;  ///< as long as the region; not changed by `to_region`
  std::uint64_t tag = 0;  ///< names the copy in `stop` and `take_ended`; not 0, and unique among those that are pending
};

enum class copy_outcome : std::uint8_t {
  done,    ///< all bytes are in place
  failed,  ///< the region was deregistered, or never registered like that; some bytes may be in place
  pending  ///< take_ended will tell
};

/// A rank *registers* a region of its memory for one peer, for one copy in one direction. The peer makes its checks and
/// then copies; the owner's processor takes no part beyond polling. The region is open to that peer, not protected from
/// it: a rank registers only memory that the peer may read or change. The memory of the rank that copies is touched by
/// that rank alone.
///
/// Invariant: once `deregister` or `stop` has returned, nobody touches the memory any more. Both return at once where
/// nothing is being copied. Otherwise they wait for the copy under way. For that the peer's end must be polled, or
/// asleep in `wait`, or in one of these two calls itself; its handlers need not run. They return at the latest when the
/// peer is lost.
///
/// Threads: any, for all calls; but `copy` and `take_ended` by one thread at a time, like `endpoint::poll`. Lives as
/// long as the endpoint.
class direct_memory {
 public:
  /// Whether that peer can copy from and to memory of this rank, as far as this rank knows by now.
  [[nodiscard]] virtual bool reaches(rank_id peer) const noexcept = 0;

  /// Registers memory for a peer that can be reached, until `deregister`, which must follow. Nothing when no more
  /// regions can be registered for that peer.
  [[nodiscard]] virtual std::optional<registered_region> register_region(rank_id target, std::span<std::byte> bytes,
                                                                         copy_way way) = 0;
  virtual void deregister(rank_id source, const registered_region& region) noexcept = 0;

  /// Never waits. The region is checked against the owner's registration where that can be done: a wrong `region`
  /// fails.
  [[nodiscard]] virtual copy_outcome copy(const direct_copy& direct_copy) = 0;
  /// Afterwards the own memory of that pending copy is not touched any more; its end is still to be taken.
  virtual void stop(std::uint64_t tag) noexcept = 0;

  /// The end of a pending copy. `endpoint::poll` returns true when there is one.
  struct ended_copy {
    std::uint64_t tag = 0;
    bool well = false;
  };
  [[nodiscard]] virtual std::optional<ended_copy> take_ended() = 0;

 protected:
  ~direct_memory() = default;
};

}  // namespace nacre::transport
