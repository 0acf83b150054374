// SPDX-License-Identifier: Apache-2.0
// What a transport offers that copies between the memories of two ranks without messages: an optional interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nacre/ids.hpp>

namespace nacre::transport {

/// Names memory to the one peer that it was lent to, and to nobody else. Travels in messages.
struct lent_memory {
  std::uint64_t id = 0;       ///< never given twice by a rank while a peer may use it
  std::uint64_t address = 0;  ///< in the process of the lender; for the transport

  friend bool operator==(const lent_memory&, const lent_memory&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(id, address);
  }
};

/// In which direction bytes are copied, as the rank sees it that copies.
enum class copy_way : std::uint8_t {
  from_lent,  ///< out of the lent memory into its own
  to_lent     ///< out of its own memory into the lent one
};

/// What a rank asks for that was lent memory.
struct direct_copy {
  rank_id peer;  ///< the lender
  lent_memory lent;
  copy_way way = copy_way::from_lent;
  std::span<std::byte> own;  ///< as long as what was lent; not changed by `to_lent`
  std::uint64_t tag = 0;  ///< names the copy in `stop` and `take_ended`; not 0, and unique among those that are pending
};

enum class copy_outcome : std::uint8_t {
  done,    ///< all bytes are in place
  failed,  ///< the memory was recalled, or never lent like that; some bytes may be in place
  pending  ///< take_ended will tell
};

/// A rank *lends* memory of its own to one peer, for one copy in one direction. The peer, once it has checked whatever
/// it has to, copies; the lender's processor has no part in that beyond polling. Lent memory is given to whom it was
/// lent, not protected from it: a rank lends where the peer may have, or may change, what lies there. The memory of the
/// rank that copies is touched by that rank alone.
///
/// Memory is free again when `recall` or `stop` has returned. Both return at once where nothing is being copied. Else
/// they wait for the bytes that are, which needs the peer's end to be polled, or asleep in `wait`, or in one of these
/// two calls itself, but none of its handlers; they return at the latest when the peer is lost.
///
/// Threads: any, all calls; but `copy` and `take_ended` as `endpoint::poll`, by one at a time. Lives as long as the
/// endpoint.
class direct_memory {
 public:
  /// Whether that peer can copy from and to memory of this rank, as far as is known by now.
  [[nodiscard]] virtual bool reaches(rank_id peer) const noexcept = 0;

  /// Lends memory to a peer that can be reached until `recall`, which must follow. Nothing when that peer has more than it can be lent.
  [[nodiscard]] virtual std::optional<lent_memory> lend(rank_id to, std::span<std::byte> bytes, copy_way what) = 0;
  virtual void recall(rank_id from, const lent_memory& what) noexcept = 0;

  /// Never waits. Whether what was lent is as the caller says is checked where it can be: a wrong `lent` fails.
  [[nodiscard]] virtual copy_outcome copy(const direct_copy& what) = 0;
  /// The own memory of a pending copy is not touched any more; its end is still to be taken.
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
