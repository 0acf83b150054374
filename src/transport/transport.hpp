// SPDX-License-Identifier: Apache-2.0
// The contract between a rank and what carries its messages to other ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nacre/config.hpp>
#include <nacre/error.hpp>
#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "transport/direct_memory.hpp"

namespace nacre::transport {

/// What a backend declares about itself. The layers above adapt; the conformance suite holds it to its word.
struct capabilities {
  bool concurrent_submit = false;   ///< any thread may submit at any time, beside poll; everything is taken
  bool by_pointer = false;          ///< one address space: bodies that hold live values are handed over as they are
  bool virtual_time = false;        ///< driven by a simulation; wait and wake are never called
  bool separate_processes = false;  ///< a peer can die alone
  bool separate_channels = false;   ///< a full channel holds up no other, and system messages overtake the rest
  bool direct_memory = false;       ///< endpoint::direct is there; which peers it reaches it says itself
  std::uint32_t payload_bytes_max = 1u << 30;
};

/// What ends the job: a peer that ended without a goodbye, a link that broke, or a launcher that gave the job up.
struct failure {
  std::optional<rank_id> peer;  ///< absent: the launcher is gone, or it ends the job for a reason of its own
  std::string reason;           ///< what it did: "closed its connection without a goodbye"
  bool announced = false;       ///< the launcher prints the line for the whole job, so that this rank keeps silent
};

/// One line for a person: "rank 2 was killed by signal 9 (Killed)".
[[nodiscard]] std::string describe(const failure& what);

/// The launcher ended the job while this rank was still joining it. The launcher has printed why, so that whoever
/// catches this ends the process with an error and without a line.
class job_aborted : public setup_error {
 public:
  using setup_error::setup_error;
};

/// One rank's end of the network.
///
/// Delivery: reliable, exactly once, in order for each (source, target, channel). A message to the own rank is legal.
/// Nothing here blocks, except `wait`, `open` of the fabric, and `close`, which is bounded by its time-out.
/// Threads: `poll`, `submit`, `failed`, `unsent` and `close` by one thread at a time, but `submit` by any when
/// `concurrent_submit`; `wait` by one thread at a time, which may be another one beside those; `wake` by any.
class endpoint {
 public:
  virtual ~endpoint() = default;

  [[nodiscard]] virtual rank_id rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  [[nodiscard]] virtual const capabilities& declared() const noexcept = 0;

  /// Takes messages for `to`, all of one channel, from the front of `batch`, in order, until the batch is empty or the
  /// link is full (the link of that channel, when they are separate). What it
  /// takes it owns; what it leaves stays the caller's, to be submitted again after a later poll. After a failure of the
  /// peer everything is taken and dropped; `failed` tells. Bodies are packed unless `by_pointer`.
  virtual void submit(rank_id to, message_list& batch) = 0;

  /// Moves bytes both ways and appends what has arrived, at most about `messages_max`, to `arrived`, whose caller owns
  /// it. Returns true when anything moved, so that an idle poller knows when to sleep.
  virtual bool poll(message_list& arrived, std::size_t messages_max) = 0;

  /// Sleeps until something may have arrived, `wake` was called, or the time is over. A wake before the wait is kept.
  virtual void wait(std::chrono::nanoseconds timeout) = 0;
  virtual void wake() noexcept = 0;

  /// The first failure since the last call, if any, after which the job cannot go on. Called between polls.
  [[nodiscard]] virtual std::optional<failure> failed() = 0;

  /// Copies between the memories of two ranks, where `direct_memory` is declared; else null.
  [[nodiscard]] virtual direct_memory* direct() noexcept { return nullptr; }

  /// True while messages taken by submit have not left for the peer yet.
  [[nodiscard]] virtual bool unsent() const noexcept = 0;

  /// Whether something is on its way to a peer's host: messages that wait here, or bytes that had left at the last
  /// question and have not been confirmed since. Where a transport confirms nothing, only what waits here. For looks
  /// that are seconds apart, as it may cost a call of the system for each peer. Threads: as `unsent`.
  [[nodiscard]] virtual bool under_way() { return unsent(); }

  /// Says goodbye to every peer, after which their end is no failure, nor this one's for them. Flushes what was
  /// submitted, at most `timeout` (under virtual time, advance does that). What arrives later is dropped; so is what a
  /// peer submits to an end that has said goodbye. Called once, by a rank that needs nothing more; only the destructor
  /// may follow.
  virtual void close(std::chrono::nanoseconds timeout) = 0;
};

/// The ranks of one job as far as they live in this process: all of them (inproc, sim), or one (tcp under `nacre run`).
class fabric {
 public:
  virtual ~fabric() = default;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// The ranks of the job that share this host's cores.
  [[nodiscard]] virtual std::uint32_t ranks_on_host() const noexcept { return size(); }
  /// The ranks that this process is to open.
  [[nodiscard]] virtual std::span<const rank_id> local_ranks() const noexcept = 0;
  /// Opens one local rank's end; each exactly once, each possibly by its own thread at the same time. May block until
  /// all peers are there. Throws setup_error naming the peer and what to try, or job_aborted.
  [[nodiscard]] virtual std::unique_ptr<endpoint> open(rank_id rank) = 0;
  /// For backends with virtual time: makes the earliest thing happen; false when nothing is left. Else always false.
  virtual bool advance() { return false; }
};

/// What the ranks of a job must have in common beyond their executable; the handshake of every backend that connects
/// processes refuses a rank that differs.
struct program {
  std::uint64_t handlers = 0;  ///< handler_table::fingerprint
};

/// One row of the table of backends, from which --nacre.transport, its help and the conformance suite derive.
struct backend {
  std::string_view name;
  std::string_view help;
  /// What it reads from its configuration, which must have declared it. Names begin with the backend's name and a dot.
  std::span<const option> options;
  /// As its endpoints declare it: all ranks live in one thread, and time passes by fabric::advance.
  bool virtual_time = false;
  /// A program that no launcher has started has no job of this kind: join_job says what to type, and make_local is for
  /// tests.
  bool needs_launcher = false;
  /// All `ranks` in this process, as the conformance suite needs it and as inproc and sim are used.
  std::unique_ptr<fabric> (*make_local)(std::uint32_t ranks, const config& configuration);
  /// This process's part of a job that a launcher has started; null where there is no such thing.
  std::unique_ptr<fabric> (*join_job)(const config& configuration, const program& own);
};

/// True when a launcher has started this process as a rank of a job (`nacre run`), which join_job joins.
[[nodiscard]] bool started_by_launcher() noexcept;

/// The backend that joins the job which this process was started for, unless an option names another: shm under
/// `nacre run`, which names another one itself when the ranks live on several hosts, auto under srun --mpi=pmix, mpi
/// under mpirun; empty when no launcher has started it.
[[nodiscard]] std::string_view backend_of_launcher() noexcept;

/// Every backend of this build, in the order of their preference.
[[nodiscard]] std::span<const backend> backends() noexcept;

/// The backend of that name, or a setup_error that names the nearest.
[[nodiscard]] const backend& find_backend(std::string_view name);

}  // namespace nacre::transport
