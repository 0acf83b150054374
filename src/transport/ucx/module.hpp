// SPDX-License-Identifier: Apache-2.0
// What Nacre asks of UCX: the narrow interface between libnacre and the module that is linked with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre::transport::ucx {

/// Raised whenever anything in this header changes: libnacre refuses a module of another version.
inline constexpr std::uint32_t module_version = 6;

/// libnacre is linked with no UCX. A module, a shared object that is loaded when the transport is chosen, makes the
/// calls. The protocol (order, bounds, goodbyes) is not in it: it is compiled once, and tested without UCX.
///
/// Nothing throws across this interface; what fails says so, and `error` tells the words of UCX. Calls of one port are
/// made by one thread at a time. Nothing blocks, except `disconnect`, which is bounded.

/// How a call went.
enum class outcome : std::uint8_t {
  done,     ///< complete: the bytes are the caller's again
  pending,  ///< under way: listener::ended will name the ticket; the bytes and the stamp must stay
  failed    ///< see error()
};

/// Independent ways from a rank to another one. Each has a worker of its own at both ends, so that no queue, ring,
/// socket or completion is shared between them.
inline constexpr std::uint32_t lane_count = 3;

/// What a frame is. Those of `taken` and `given` are bytes that UCX is to fetch from where they lie to where they
/// belong, of whatever length; it uses remote access of the hardware where it has that.
enum class frame_kind : std::uint8_t {
  message = 1,
  take,    ///< send what you have lent; no bytes
  taken,   ///< what was lent
  given,   ///< to be written to what was lent
  landed,  ///< it was; no bytes
  refused  ///< nothing is lent like that; no bytes
};
inline constexpr std::uint32_t frame_kinds = 6;

/// Travels in front of each frame: as UCX's header, or, where that is faster, as the first bytes of what UCX carries.
struct stamp {
  std::uint64_t key = 0;  ///< what the receiver has told this sender, and nobody else
  std::uint32_t source : 24 = 0;
  std::uint32_t form : 8 = 0;  ///< of what follows; see brief.hpp
  std::uint32_t sequence = 0;  ///< of the messages from this source on this lane; else which memory was lent
};
static_assert(sizeof(stamp) == 16);
inline constexpr std::uint32_t ranks_max = 1u << 24;  // that a stamp can name

/// A frame that stays at its sender until it is fetched or refused. What it stands for is the module's.
struct announcement {
  void* which = nullptr;
};

/// Hears what UCX has to tell, during `progress`, `arm` and `disconnect`.
class listener {
 public:
  /// A frame is here. It must be copied before this returns.
  virtual void arrived(std::uint32_t lane, frame_kind what, const stamp& of,
                       std::span<const std::byte> frame) noexcept = 0;
  /// Where a frame is to be written.
  struct place {
    std::byte* at = nullptr;  ///< null: it is not wanted
    std::uint64_t ticket = 0;
    bool later = false;  ///< the listener keeps the announcement, and will fetch or refuse it; `at` means nothing
  };
  /// A longer frame stays at its sender until there is a place for it. `ended` tells when it is there.
  virtual place place_for(std::uint32_t lane, frame_kind what, const stamp& of, std::size_t byte_count,
                          announcement as) noexcept = 0;
  virtual void ended(std::uint64_t ticket, bool well) noexcept = 0;
  /// Nothing reaches this peer on this lane any more. The words are gone afterwards.
  virtual void broken(std::uint32_t peer, std::uint32_t lane, const char* why) noexcept = 0;

 protected:
  ~listener() = default;
};

/// Where a peer is.
enum class reach : std::uint8_t {
  this_host,  ///< its memory may be read in place, which UCX does not do where it is to notice the end of a peer
  elsewhere   ///< UCX is to notice its end: listener::broken
};

/// One rank's end. Frames of a lane may arrive in another order than they were sent in.
class port {
 public:
  port() = default;
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  virtual ~port() = default;

  /// Whom to tell. Once, before anything is sent and before the first progress.
  virtual void tell(listener& whom) noexcept = 0;

  /// What a peer needs to connect to this lane. Valid as long as the port.
  [[nodiscard]] virtual std::span<const std::byte> address(std::uint32_t lane) const noexcept = 0;
  /// False: see error().
  virtual bool connect(std::uint32_t peer, std::uint32_t lane, std::span<const std::byte> address,
                       reach where) noexcept = 0;

  virtual outcome send(std::uint32_t peer, std::uint32_t lane, frame_kind what, const stamp& with,
                       std::span<const std::byte> frame, std::uint64_t ticket) noexcept = 0;
  /// A short frame, as a message; `stamped` is its stamp and, right behind, the frame. True: it is on its way, and the
  /// bytes are the caller's again. False: UCX does not take it at once, or not at all, and nothing has happened.
  virtual bool send_at_once(std::uint32_t peer, std::uint32_t lane, std::span<const std::byte> stamped) noexcept = 0;
  /// Ends when all that was sent there has left this process.
  virtual outcome flush(std::uint32_t peer, std::uint32_t lane, std::uint64_t ticket) noexcept = 0;
  /// Begins to bring what was announced on this lane into `to`, which has its length; as place_for with a place. Not
  /// within a call of the listener.
  virtual outcome fetch(std::uint32_t lane, announcement what, std::span<std::byte> to,
                        std::uint64_t ticket) noexcept = 0;
  /// What was announced on this lane is not wanted. Its sender is told that it has left.
  virtual void refuse(std::uint32_t lane, announcement what) noexcept = 0;
  /// Moves what can move, and tells the listener. False: there was nothing to do.
  virtual bool progress(std::uint32_t lane) noexcept = 0;

  /// True: the descriptor becomes readable when the next thing happens on this lane. False: call progress first.
  [[nodiscard]] virtual bool arm(std::uint32_t lane) noexcept = 0;
  [[nodiscard]] virtual int descriptor(std::uint32_t lane) const noexcept = 0;

  /// Ends all connections at once. Afterwards no ticket is out any more, except of transfers that UCX did not give up
  /// within a second, or with peers of this host. What was to arrive must stay until the port is gone, what was to
  /// leave for ever, as a peer may still read it.
  virtual void disconnect() noexcept = 0;

  /// What the last call that failed complained of. Valid until the next call.
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// UCX in this process. There is one object of it, which the module owns. Any thread.
class library {
 public:
  virtual ~library() = default;
  /// "UCX 1.13.1".
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// A new end for a rank of a job with so many ranks, which the caller owns; null: `why` has the words, cut to its
  /// room and ended by 0.
  [[nodiscard]] virtual port* open(std::uint32_t ranks, std::span<char> why) noexcept = 0;
};

/// The one symbol of the module: library* (std::uint32_t version). Null: it was built for another version than the one
/// asked for.
inline constexpr const char* module_symbol = "nacre_ucx_module";

}  // namespace nacre::transport::ucx
