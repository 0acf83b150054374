// SPDX-License-Identifier: Apache-2.0
// The emulator of very large machines: programs written to a node API, run in virtual time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/emulator/critical_path.hpp>
#include <nacre/emulator/data.hpp>
#include <nacre/emulator/handler.hpp>
#include <nacre/emulator/node.hpp>
#include <nacre/emulator/task.hpp>
#include <nacre/invoke.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

/// How far an emulation is.
struct emulation_progress {
  std::chrono::nanoseconds time{0};  ///< all events before it have happened
  std::uint64_t events = 0;          ///< handlers that have run
  double seconds = 0;                ///< wall time since the start
};

/// The order in which blocks of nodes run what others send them.
enum class emulated_order : std::uint8_t {
  exact,   ///< by virtual time: the result is equal to the last bit in every run
  arrival  ///< as it comes: blocks wait for nobody, and run late packets after what they have run already. The
           ///< original emulator did so. Predicted times may be too short or too long, and differ from run to run
};

/// When a balancer may move a block of nodes to another rank.
enum class emulated_moves : std::uint8_t {
  worthwhile,  ///< when the block has worked for long enough, since it has come, to make up for the move
  always       ///< between any two windows, whatever it costs: a test of moves
};

/// How an emulation runs. No choice but `order` changes its result.
struct emulation_options {
  /// Blocks of nodes, which are mobile objects, over all ranks. 0: one where there is one worker, else four a worker.
  std::uint32_t blocks = 0;
  /// Called on rank 0, by one thread at a time, several times a second.
  std::function<void(const emulation_progress&)> progress{};
  /// Called for every node at the end, when nothing happens any more, on the rank that holds the node then: it reads
  /// the states in which the program has left its results. Several threads call it at a time, each for nodes of its
  /// own. All ranks give one, or none does. A message, a timer or a charge in it is an error, and so is an exception.
  std::function<void(emulated_node&)> finish{};
  /// Records all handlers, 48 bytes each, to tell the critical path at the end. It is not known when a block has run
  /// more than 33 million.
  bool critical_path = false;
  /// Rank 0 writes a profile to this file at the end, which `nacre report` draws: how busy each node was in each part
  /// of virtual time, packets by hops, and the critical path if that is recorded. Rank 0 alone decides. Empty: none is
  /// kept. It takes 40 bytes a node and 64 to 2,048 more a node that works (64 MiB in all up to a million nodes), and
  /// as much again on rank 0 at the end. Equal emulations in the exact order write equal files. A file that exists
  /// keeps its content until the whole profile takes its place.
  std::string profile{};
  /// The heading of the page that shows the profile, such as the name of the program.
  std::string title{};
  emulated_order order = emulated_order::exact;
  emulated_moves moves = emulated_moves::worthwhile;
};

/// The counts of an emulation. Times of all threads or packets together stay at 292 years when they have come there.
struct emulation_counts {
  std::uint64_t events = 0;     ///< handlers that ran, and stretches of coroutines
  std::uint64_t messages = 0;   ///< packets that were sent
  std::uint64_t hops = 0;       ///< hops of all packets together
  std::uint64_t delayed = 0;    ///< messages that had to wait for a thread
  std::uint64_t held_back = 0;  ///< packets that came to a node with a full input buffer, and waited in the network
  std::uint64_t late = 0;       ///< packets for windows that their block had run already, in the order of arrival
  std::uint64_t stalled = 0;    ///< packets whose thread had to wait for room in its node's output buffer
  std::chrono::nanoseconds stall{0};      ///< the virtual time for which threads waited for such room
  std::uint64_t link_waits = 0;           ///< how often a packet had to wait for a link
  std::chrono::nanoseconds link_wait{0};  ///< the virtual time for which packets waited for links
  std::chrono::nanoseconds end{0};        ///< when the last handler ended
  std::chrono::nanoseconds busy{0};       ///< costs of all handlers together
  std::uint64_t bytes = 0;                ///< memory of the blocks at its largest
  std::vector<std::uint64_t> by_hops{};   ///< packets by the number of their hops, from 0 for those to their own node
  template <class Archive>
  void serialize(Archive& ar) {
    ar(events, messages, hops, delayed, held_back, late, stalled, stall, link_waits, link_wait, end, busy, bytes,
       by_hops);
  }
};

/// A finished emulation: equal on all ranks.
class emulation {
 public:
  emulation(const emulation_counts& counts, std::uint64_t windows, double seconds, critical_path path = {}) noexcept
      : counts_(counts), windows_(windows), seconds_(seconds), path_(std::move(path)) {}
  /// The virtual time at which the last handler ended.
  [[nodiscard]] std::chrono::nanoseconds time() const noexcept { return counts_.end; }
  /// The number of packets that nodes have sent.
  [[nodiscard]] std::uint64_t messages() const noexcept { return counts_.messages; }
  /// The wall time that the emulation took, in seconds.
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  [[nodiscard]] const emulation_counts& counts() const noexcept { return counts_; }
  /// The number of windows, in each of which all blocks work without hearing from each other.
  [[nodiscard]] std::uint64_t windows() const noexcept { return windows_; }
  /// Not known unless emulation_options::critical_path was set.
  [[nodiscard]] const critical_path& path() const noexcept { return path_; }

 private:
  emulation_counts counts_;
  std::uint64_t windows_;
  double seconds_;
  critical_path path_;
};

/// Runs a program on an emulated machine. Collective: the mains of all ranks call it with one machine and one program.
/// `start` runs on every node at time 0 and costs nothing but its charges; several threads call it at a time, each for
/// nodes of its own. Returns when nothing happens any more. The times are equal to the last bit for any number of ranks
/// and workers and any balancer. Throws setup_error for a machine that cannot be, on all ranks, and usage_error, on all
/// ranks, when a handler has thrown: its text names time, node, thread and handler; setup_error, on all ranks, when the
/// profile cannot be written.
emulation emulate(runtime& rt, const emulated_machine& machine, const std::function<void(emulated_node&)>& start,
                  const emulation_options& options = {});

}  // namespace nacre
