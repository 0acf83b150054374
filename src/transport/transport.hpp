// SPDX-License-Identifier: Apache-2.0
// The contract between a rank and the transport that carries its messages to other ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nacre/assert.hpp>
#include <nacre/config.hpp>
#include <nacre/error.hpp>
#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "join/launch/failure.hpp"
#include "transport/datagram_service.hpp"
#include "transport/direct_memory.hpp"

namespace nacre::transport {

/// Properties that a backend declares. The layers above adapt to them; the conformance suite tests them.
struct capabilities {
  bool concurrent_submit = false;   ///< any thread may submit at any time, beside poll; submit takes all messages
  bool by_pointer = false;          ///< one address space: bodies that hold live values are handed over unpacked
  bool virtual_time = false;        ///< driven by a simulation; wait and wake are never called
  bool separate_processes = false;  ///< a peer can die alone
  bool separate_channels = false;   ///< a full channel delays no other, and system messages overtake the rest
  bool direct_memory = false;       ///< endpoint::direct is not null; direct_memory::reaches tells for each peer
  bool datagrams = false;           ///< endpoint::datagrams is not null; datagram_service::sends_to tells for each peer
  std::uint32_t payload_bytes_max = 1u << 30;
};

/// Checks a message that is about to leave as bytes: one that the peer would refuse is an error of this rank.
inline void check_outgoing(const message& m) {
  NACRE_EXPECT(m.packed(), "only bytes leave the address space: use packed_form");
  NACRE_EXPECT(m.header.payload_bytes <= capabilities{}.payload_bytes_max,
               "a payload is at most payload_bytes_max long");
}

using launch::describe;
using launch::failure;
using launch::job_aborted;

/// One rank's endpoint of the network.
///
/// Delivery: reliable, exactly once, in order for each (source, target, channel). A message to the own rank is legal.
/// Nothing here blocks, except `wait`, `open` of the fabric, and `close`, which returns by its time-out.
/// Threads: `poll`, `submit`, `failed`, `unsent` and `close` by one thread at a time, but `submit` by any under
/// `concurrent_submit`; `wait` by one thread at a time, which may run beside those; `wake` by any.
class endpoint {
 public:
  virtual ~endpoint() = default;

  [[nodiscard]] virtual rank_id rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  [[nodiscard]] virtual const capabilities& declared() const noexcept = 0;

  /// Takes messages for `target`, all of one channel, from the front of `batch`, in order, until the batch is empty or
  /// the link is full (the link of that channel, under `separate_channels`). The endpoint owns the messages that it
  /// takes; the others stay the caller's, which submits them again after a later poll. After a failure of the peer all
  /// messages are taken and dropped; `failed` tells. Bodies are packed unless `by_pointer`.
  virtual void submit(rank_id target, message_list& batch) = 0;

  /// Moves bytes both ways and appends the messages that have arrived, at most about `messages_max`, to `arrived`; the
  /// caller owns them. Returns true when anything moved, so that an idle poller knows when to sleep.
  virtual bool poll(message_list& arrived, std::size_t messages_max) = 0;

  /// Sleeps until something may have arrived, `wake` was called, or the time is over. A wake before the wait is kept.
  virtual void wait(std::chrono::nanoseconds timeout) = 0;
  virtual void wake() noexcept = 0;

  /// The first failure since the last call, if there is one; after it the job cannot go on. Called between polls.
  [[nodiscard]] virtual std::optional<failure> failed() = 0;

  /// Copies between the memories of two ranks, where `direct_memory` is declared; else null.
  [[nodiscard]] virtual direct_memory* direct() noexcept { return nullptr; }

  /// Unreliable datagrams beside the messages, where `datagrams` is declared; else null.
  [[nodiscard]] virtual datagram_service* datagrams() noexcept { return nullptr; }

  /// True while messages taken by submit have not left for the peer yet.
  [[nodiscard]] virtual bool unsent() const noexcept = 0;

  /// Whether something is on its way to a peer's host: messages that wait here, or bytes that had left before the last
  /// call of this and have not been acknowledged since. A transport without acknowledgements counts only the messages
  /// that wait here. May cost a system call for each peer, so callers leave seconds between calls. Threads: like
  /// `unsent`.
  [[nodiscard]] virtual bool under_way() { return unsent(); }

  /// Sends its shutdown to every peer; after that the end of either side is no failure for the other. Flushes the
  /// submitted messages, for at most `timeout` (under virtual time, advance does that). Messages that arrive later are
  /// dropped, and so are those that a peer submits to an endpoint that has sent its shutdown. Called once, by a rank
  /// that needs nothing more; only the destructor may follow.
  virtual void close(std::chrono::nanoseconds timeout) = 0;
};

/// The ranks of one job that live in this process: all of them (inproc, sim), or one (tcp under `nacre run`).
class fabric {
 public:
  virtual ~fabric() = default;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t ranks_on_host() const noexcept { return size(); }
  /// The ranks on this host that compete with this process's ranks for processors, these included. Fewer than
  /// ranks_on_host where a foreign launcher has bound each rank to its own.
  [[nodiscard]] virtual std::uint32_t ranks_sharing_cores() const noexcept { return ranks_on_host(); }
  /// The position of this process's first rank among these; nothing where a foreign launcher (srun, mpirun) has started
  /// them and they share processors.
  [[nodiscard]] virtual std::optional<std::uint32_t> place_on_host() const noexcept { return 0; }
  /// The ranks that this process is to open.
  [[nodiscard]] virtual std::span<const rank_id> local_ranks() const noexcept = 0;
  /// Opens one local rank's endpoint. Each is opened exactly once; several threads may open different ones at the same
  /// time. May block until all peers are there. Throws setup_error that names the peer and a remedy, or job_aborted.
  [[nodiscard]] virtual std::unique_ptr<endpoint> open(rank_id rank) = 0;
  /// Under virtual time: processes the earliest event; false when none is left. Elsewhere always false.
  virtual bool advance() { return false; }
};

/// Properties that the ranks of a job must have in common beyond their executable. The handshake of every backend that
/// connects processes refuses a rank that differs.
struct program {
  std::uint64_t handlers = 0;  ///< handler_table::fingerprint
};

/// One row of the table of backends, from which --nacre.transport, its help and the conformance suite derive.
struct backend {
  std::string_view name;
  std::string_view help;
  /// The options that it reads. Its configuration must have declared them. Their names begin with the backend's name
  /// and a dot.
  std::span<const option> options;
  /// Equals the declaration of its endpoints: all ranks live in one thread, and fabric::advance lets time pass.
  bool virtual_time = false;
  /// A program that was started without a launcher has no job of this kind: join_job tells the user the command to
  /// type, and make_local is for tests.
  bool needs_launcher = false;
  /// All `ranks` in this process, for the conformance suite and for users of inproc and sim.
  std::unique_ptr<fabric> (*make_local)(std::uint32_t ranks, const config& configuration);
  /// This process's part of a job that a launcher has started; null where the backend has no such jobs.
  std::unique_ptr<fabric> (*join_job)(const config& configuration, const program& program);
};

/// The backend that joins the job of this process, unless an option names another: shm under `nacre run` (which names
/// another one itself when the ranks live on several hosts), auto under srun --mpi=pmix, mpi under mpirun; empty when
/// no launcher has started the process.
[[nodiscard]] std::string_view backend_of_launcher() noexcept;

/// Every backend of this build, in the order of their preference.
[[nodiscard]] std::span<const backend> backends() noexcept;

/// The backend of that name, or a setup_error that names the nearest.
[[nodiscard]] const backend& find_backend(std::string_view name);

}  // namespace nacre::transport
