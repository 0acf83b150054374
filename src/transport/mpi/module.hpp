// SPDX-License-Identifier: Apache-2.0
// What Nacre asks of an MPI library: the narrow interface between libnacre and a module compiled for one MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre::transport::mpi {

/// Raised whenever anything in this header changes: libnacre refuses a module of another version.
inline constexpr std::uint32_t module_version = 4;

/// The implementations of MPI differ in their binary interface, so nothing that includes mpi.h can be part of libnacre.
/// Each MPI that the build finds has the same small module instead, a shared object that is loaded when the transport
/// is chosen. The protocol (order, windows, goodbyes) is not in it: it is compiled once, and tested without any MPI.
///
/// Nothing throws across this interface; what fails says so, and `error` tells the words of MPI_Error_string.
/// Calls are made by one thread at a time (MPI_THREAD_SERIALIZED), and nothing blocks except what says it does.

/// How a call went.
enum class outcome : std::uint8_t {
  nothing,  ///< nothing has arrived
  done,     ///< complete: the buffer is the caller's again
  pending,  ///< under way: `completed` will name the ticket; the buffer must stay
  failed    ///< see error()
};

/// The number of independent streams of small pieces between two ranks; large bodies have a stream for each, too.
inline constexpr std::uint32_t lane_count = 3;

/// A small piece that is there; `take` must follow.
struct arrival {
  std::uint32_t lane = 0;
  std::uint32_t source = 0;  ///< may be any number where all ranks are in one process
  std::uint32_t byte_count = 0;
  std::uint32_t word = 0;  ///< as its sender says
};

/// What is sent or received beside the slots.
struct transfer_request {
  std::uint32_t lane = 0;
  std::uint32_t peer = 0;
  std::uint64_t ticket = 0;  ///< returned by `completed`, if the call says `pending`
  std::uint32_t word = 0;    ///< of a piece: below 2^word_bits, and 0 unless the port carries words
};

/// What can travel beside a piece, without adding to its bytes.
inline constexpr std::uint32_t word_bits = 24;

/// One rank's end. Pieces of one lane from one peer arrive in the order of their sending; so do bodies.
class port {
 public:
  port() = default;
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  /// Cancels the receives. What is still under way is left to MPI, so the buffers must stay for ever.
  virtual ~port() = default;

  /// Looks for a piece on that lane, by one call of MPI: done, nothing or failed.
  virtual outcome next(arrival& piece, std::uint32_t lane) noexcept = 0;
  /// Copies the piece that `next` has found to `into`, which has room for its byte_count. Its slot goes back to MPI at
  /// the next look, so that the piece need not wait for that.
  virtual void take(const arrival& piece, std::byte* into) noexcept = 0;

  /// Whether words reach the other end, which depends on the length of this MPI's tags.
  [[nodiscard]] virtual bool carries_words() const noexcept = 0;

  /// `matched`: complete only when the receiver has taken it into a slot, which bounds what waits there unseen.
  enum class completion : std::uint8_t { buffered, matched };
  virtual outcome send(const transfer_request& what, std::span<const std::byte> piece, completion when) noexcept = 0;
  virtual outcome send_body(const transfer_request& what, std::span<const std::byte> body) noexcept = 0;
  virtual outcome receive_body(const transfer_request& what, std::span<std::byte> body) noexcept = 0;

  /// Writes tickets of transfers that are complete, at most as many as there is room for. `failed` is the number of
  /// those, the last ones, that ended with an error.
  struct completions {
    std::uint32_t count = 0;
    std::uint32_t failed = 0;
  };
  virtual completions completed(std::span<std::uint64_t> tickets) noexcept = 0;

  /// What the last call that failed complained of: the call and the words of MPI. Valid until the next call.
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The communicators of a job, duplicates that only Nacre uses.
class mesh {
 public:
  mesh() = default;
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;
  /// Frees the communicators when `retire` was told that all is quiet, else leaves them to MPI. After the ports.
  virtual ~mesh() = default;

  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Collects `own` of every rank in `all`, by rank. Blocks until all take part. For start-up.
  virtual bool gather(std::span<const std::byte> own, std::span<std::byte> all) noexcept = 0;
  /// The end of a local rank; null on failure. The caller owns it.
  [[nodiscard]] virtual port* open(std::uint32_t rank) noexcept = 0;
  /// Nothing is under way any more on any rank.
  virtual void retire() noexcept = 0;
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The slots that each rank receives small pieces in.
struct slot_shape {
  std::uint32_t slots = 0;  ///< on each lane; 0: as many as are best with this MPI
  std::uint32_t bytes = 0;  ///< the longest piece
};

/// One MPI in this process. There is one object of it, which the module owns.
class library {
 public:
  virtual ~library() = default;

  /// "Open MPI 4.1.4" or the like.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// Whether the program has called MPI_Init itself.
  [[nodiscard]] virtual bool started() noexcept = 0;
  /// Calls MPI_Init_thread unless the program has done so; then MPI ends with the process, too. False: see error().
  virtual bool start() noexcept = 0;

  /// The ranks of a communicator, given as its Fortran handle (MPI_Comm_c2f), or of MPI_COMM_WORLD. Collective; blocks.
  [[nodiscard]] virtual mesh* join(const std::int64_t* communicator, const slot_shape& shape) noexcept = 0;
  /// `ranks` ranks in this process, which send to themselves through MPI. Their calls must not overlap.
  [[nodiscard]] virtual mesh* make_local(std::uint32_t ranks, const slot_shape& shape) noexcept = 0;
  [[nodiscard]] virtual const char* error() const noexcept = 0;
};

/// The one symbol of a module, under the name `module_symbol`. Null: it was built for another version than the one
/// asked for.
inline constexpr const char* module_symbol = "nacre_mpi_module";

}  // namespace nacre::transport::mpi
