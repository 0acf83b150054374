// SPDX-License-Identifier: Apache-2.0
// The narrow interface between libnacre and the module that is linked with UCX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre::transport::ucx {

/// Raised whenever anything in this header changes: libnacre refuses a module of another version.
inline constexpr std::uint32_t module_version = 6;

/// libnacre is not linked with UCX. A module, a shared object that is loaded when the transport is chosen, makes the
/// calls. The protocol (order, bounds, shutdown) is outside the module: it is compiled once, and tested without UCX.
///
/// No call throws across this interface. A call that fails returns so, and `error` gives UCX's message. The caller
/// makes the calls of one port from one thread at a time. Only `disconnect` blocks, for a bounded time.

/// The result of a call.
enum class outcome : std::uint8_t {
  done,     ///< complete: the caller owns the bytes again
  pending,  ///< in progress: port_callbacks::ended gives the request id; the bytes and the stamp must stay
  failed    ///< see error()
};

/// The channels between two ranks, which are independent. Each has a UCX worker of its own at both ends, so channels
/// share no queue, ring, socket or completion.
inline constexpr std::uint32_t channels_per_peer = 3;

/// The kinds of frames. UCX fetches the bytes of `taken` and `given` from their source to their destination, at any
/// length, by remote access of the hardware where it has that.
enum class frame_kind : std::uint8_t {
  message = 1,
  take,    ///< asks for the bytes of a region that the receiver has registered; no bytes
  taken,   ///< the bytes of the region
  given,   ///< bytes to be written to the region
  landed,  ///< the bytes have been written to the region; no bytes
  refused  ///< no such region is registered; no bytes
};
inline constexpr std::uint32_t frame_kinds = 6;

/// Travels in front of each frame: as UCX's header, or, where that is faster, as the first bytes of UCX's payload.
struct stamp {
  std::uint64_t key = 0;  ///< a secret that the receiver has given to this sender alone
  std::uint32_t source : 24 = 0;
  std::uint32_t form : 8 = 0;  ///< of the frame; see is_compact
  std::uint32_t sequence = 0;  ///< of the messages from this source on this channel; else the id of a region
};
static_assert(sizeof(stamp) == 16);
inline constexpr std::uint32_t ranks_max = 1u << 24;  // that a stamp can name

/// A rendezvous: a frame that stays at its sender until it is fetched or refused. The pointer has a meaning for the
/// module only.
struct rendezvous_request {
  void* handle = nullptr;
};

/// Receives UCX's events, during `progress`, `arm` and `disconnect`.
class port_callbacks {
 public:
  /// A frame has arrived. The endpoint must copy it before it returns.
  virtual void arrived(std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                       std::span<const std::byte> frame) noexcept = 0;
  /// The destination of a frame.
  struct place {
    std::byte* address = nullptr;  ///< null: the frame is not wanted
    std::uint64_t request_id = 0;
    bool later = false;  ///< the endpoint keeps the request, and will fetch or refuse it; `address` means nothing
  };
  /// A longer frame stays at its sender until there is a place for it. `ended` is called when it has arrived.
  virtual place place_for(std::uint32_t channel_index, frame_kind kind, const stamp& stamp, std::size_t byte_count,
                          rendezvous_request as) noexcept = 0;
  virtual void ended(std::uint64_t request_id, bool well) noexcept = 0;
  /// No message reaches this peer on this channel any more. `reason` is valid during the call only.
  virtual void broken(std::uint32_t peer, std::uint32_t channel_index, const char* reason) noexcept = 0;

 protected:
  ~port_callbacks() = default;
};

/// The location of a peer.
enum class reach : std::uint8_t {
  this_host,  ///< its memory may be read in place; UCX does not do that where it reports the end of a peer
  elsewhere   ///< UCX reports its end: port_callbacks::broken
};

/// One rank's endpoint. Frames of a channel may arrive in another order than they were sent in.
class port {
 public:
  port() = default;
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  virtual ~port() = default;

  /// Sets the receiver of events. Once, before the first send and the first progress.
  virtual void set_callbacks(port_callbacks& callbacks) noexcept = 0;

  /// The address by which a peer connects to this channel. Valid as long as the port.
  [[nodiscard]] virtual std::span<const std::byte> address(std::uint32_t channel_index) const noexcept = 0;
  /// False: see error().
  virtual bool connect(std::uint32_t peer, std::uint32_t channel_index, std::span<const std::byte> address,
                       reach reach) noexcept = 0;

  virtual outcome send(std::uint32_t peer, std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                       std::span<const std::byte> frame, std::uint64_t request_id) noexcept = 0;
  /// Sends a short frame as a message; `stamped` is its stamp and, right behind, the frame. True: it has been sent, and
  /// the caller owns the bytes again. False: UCX does not take it at once, or not at all, and nothing has happened.
  virtual bool send_at_once(std::uint32_t peer, std::uint32_t channel_index,
                            std::span<const std::byte> stamped) noexcept = 0;
  /// Ends when every byte sent to that peer on that channel has left this process.
  virtual outcome flush(std::uint32_t peer, std::uint32_t channel_index, std::uint64_t request_id) noexcept = 0;
  /// Starts to fetch an announced frame of this channel into `target`, which has its length, as place_for does when it
  /// returns a place. Not within an event.
  virtual outcome fetch(std::uint32_t channel_index, rendezvous_request request, std::span<std::byte> target,
                        std::uint64_t request_id) noexcept = 0;
  /// Drops an announced frame of this channel. UCX tells the sender that the frame has left.
  virtual void refuse(std::uint32_t channel_index, rendezvous_request request) noexcept = 0;
  /// Progresses the channel, and reports its events. False: there was nothing to do.
  virtual bool progress(std::uint32_t channel_index) noexcept = 0;

  /// True: the descriptor becomes readable at the next event on this channel. False: call progress first.
  [[nodiscard]] virtual bool arm(std::uint32_t channel_index) noexcept = 0;
  [[nodiscard]] virtual int descriptor(std::uint32_t channel_index) const noexcept = 0;

  /// Ends all connections at once. Afterwards no request is pending, except transfers that UCX did not cancel within a
  /// second, and transfers with peers of this host. Receive buffers must stay until the port is destroyed; send buffers
  /// must stay for ever, as a peer may still read them.
  virtual void disconnect() noexcept = 0;

  /// UCX's message for the last call that failed. Valid until the next call.
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// UCX in this process. The module owns the only object. Any thread.
class library {
 public:
  virtual ~library() = default;
  /// "UCX 1.13.1".
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// Opens an endpoint for a rank of a job with so many ranks. The caller owns it. Null: `text` has the message, cut to
  /// its room and ended by 0.
  [[nodiscard]] virtual port* open(std::uint32_t ranks, std::span<char> text) noexcept = 0;
};

/// The only symbol of the module: library* (std::uint32_t version). Null: the module was built for another version than
/// the one asked for.
inline constexpr const char* module_symbol = "nacre_ucx_module";

}  // namespace nacre::transport::ucx
