// SPDX-License-Identifier: Apache-2.0
// The narrow interface between libnacre and a module compiled for one MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre::transport::mpi {

/// Raised whenever anything in this header changes: libnacre refuses a module of another version.
inline constexpr std::uint32_t module_version = 4;

/// The implementations of MPI differ in their binary interface, so no source that includes mpi.h can be part of
/// libnacre. Instead each MPI that the build finds has the same small module, a shared object that is loaded when the
/// transport is chosen. The protocol (order, windows, shutdown) is outside the module: it is compiled once, and tested
/// without any MPI.
///
/// No call throws across this interface. A call that fails returns so, and `error` gives the text of MPI_Error_string.
/// The caller makes calls from one thread at a time (MPI_THREAD_SERIALIZED). A call blocks only where its comment says
/// so.

/// The result of a call.
enum class outcome : std::uint8_t {
  nothing,  ///< no fragment has arrived
  done,     ///< complete: the caller owns the buffer again
  pending,  ///< in progress: `completed` will give the request id; the buffer must stay
  failed    ///< see error()
};

/// The channels between two ranks: independent streams of fragments. The payloads of each channel are a stream, too.
inline constexpr std::uint32_t channels_per_peer = 3;

/// A fragment that has arrived; `take` must follow.
struct arrived_fragment {
  std::uint32_t channel_index = 0;
  std::uint32_t source = 0;  ///< any number where all ranks are in one process
  std::uint32_t byte_count = 0;
  std::uint32_t word = 0;  ///< as its sender has set it
};

/// A request to send a fragment, or to send or receive a payload.
struct transfer_request {
  std::uint32_t channel_index = 0;
  std::uint32_t peer = 0;
  std::uint64_t request_id = 0;  ///< returned by `completed`, if the call returns `pending`
  std::uint32_t word = 0;        ///< of a fragment: below 2^word_bits, and 0 unless the port carries words
};

/// The bits of a fragment's word, which adds no bytes to the fragment.
inline constexpr std::uint32_t word_bits = 24;

/// One rank's endpoint. Fragments of one channel from one peer arrive in the order of their sending; so do payloads.
class port {
 public:
  port() = default;
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  /// Cancels the receives. MPI keeps all requests in progress, so their buffers must stay for ever.
  virtual ~port() = default;

  /// Polls for a fragment on that channel, by one call of MPI: done, nothing or failed.
  virtual outcome next(arrived_fragment& fragment, std::uint32_t channel_index) noexcept = 0;
  /// Copies the fragment that `next` has found to `target`, which has room for its byte_count. The slot goes back to
  /// MPI at the next poll, so the fragment need not wait for that.
  virtual void take(const arrived_fragment& fragment, std::byte* target) noexcept = 0;

  /// Whether words reach the other end, which depends on the length of this MPI's tags.
  [[nodiscard]] virtual bool carries_words() const noexcept = 0;

  /// `matched`: complete only when the receiver has taken the fragment into a slot, which bounds the fragments that
  /// wait there.
  enum class completion : std::uint8_t { buffered, matched };
  virtual outcome send(const transfer_request& request, std::span<const std::byte> fragment,
                       completion completion) noexcept = 0;
  virtual outcome send_payload(const transfer_request& request, std::span<const std::byte> payload) noexcept = 0;
  virtual outcome receive_payload(const transfer_request& request, std::span<std::byte> payload) noexcept = 0;

  /// Writes the request ids of complete transfers, as many as there is room for. `failed` is the number of those, the
  /// last ones, that ended with an error.
  struct completions {
    std::uint32_t count = 0;
    std::uint32_t failed = 0;
  };
  virtual completions completed(std::span<std::uint64_t> request_ids) noexcept = 0;

  /// The last call that failed, and MPI's message. Valid until the next call.
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The communicators of a job, duplicates that only Nacre uses.
class mesh {
 public:
  mesh() = default;
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;
  /// Frees the communicators if `retire` was called, else leaves them to MPI. After the ports.
  virtual ~mesh() = default;

  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Collects `own_bytes` of every rank in `all`, by rank. Blocks until all take part. For start-up.
  virtual bool gather(std::span<const std::byte> own_bytes, std::span<std::byte> all) noexcept = 0;
  /// The end of a local rank; null on failure. The caller owns it.
  [[nodiscard]] virtual port* open(std::uint32_t rank) noexcept = 0;
  /// Reports that no transfer is in progress any more on any rank.
  virtual void retire() noexcept = 0;
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The slots that each rank receives fragments in.
struct slot_shape {
  std::uint32_t slots = 0;  ///< on each channel; 0: the best number for this MPI
  std::uint32_t bytes = 0;  ///< the longest fragment
};

/// One MPI in this process. The module owns the only object.
class library {
 public:
  virtual ~library() = default;

  /// "Open MPI 4.1.4" or the like.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// Whether the program has called MPI_Init itself.
  [[nodiscard]] virtual bool started() noexcept = 0;
  /// Calls MPI_Init_thread unless the program has done so; if Nacre has, MPI ends with the process. False: see error().
  virtual bool start() noexcept = 0;

  /// The ranks of a communicator, given as its Fortran handle (MPI_Comm_c2f), or of MPI_COMM_WORLD. Collective; blocks.
  [[nodiscard]] virtual mesh* join(const std::int64_t* communicator, const slot_shape& shape) noexcept = 0;
  /// `ranks` ranks in this process, which send to themselves through MPI. Their calls must not overlap.
  [[nodiscard]] virtual mesh* make_local(std::uint32_t ranks, const slot_shape& shape) noexcept = 0;
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The only symbol of a module, under the name `module_symbol`. Null: the module was built for another version than the
/// one asked for.
inline constexpr const char* module_symbol = "nacre_mpi_module";

}  // namespace nacre::transport::mpi
