// SPDX-License-Identifier: Apache-2.0
// The backend `sim`: all ranks in one thread, their messages travelling through a simulated network in virtual time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "machine/network.hpp"
#include "machine/simulation.hpp"
#include "transport/transport.hpp"

namespace nacre::transport {

/// The messages that one rank has sent and received over the network; messages to itself are not counted.
struct rank_traffic {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;  ///< headers included, as everywhere here
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
};

/// The messages in the whole network.
struct network_traffic {
  std::uint64_t messages = 0;  ///< handed to the network; without messages of a rank to itself
  std::uint64_t bytes = 0;
  std::uint64_t self_messages = 0;        ///< from a rank to itself
  std::uint64_t late = 0;                 ///< messages that a fault has delayed
  std::uint64_t dropped = 0;              ///< for ranks that had closed
  std::uint64_t switch_drops = 0;         ///< by the switch, for want of buffer; each is sent again
  std::uint64_t datagrams = 0;            ///< handed to the network; not among the messages
  std::uint64_t datagrams_lost = 0;       ///< by chance, or by the switch
  std::uint64_t held_back = 0;            ///< found the input buffer full, and waited in the network
  std::uint64_t link_waits = 0;           ///< how often a message or datagram had to wait for a link
  std::chrono::nanoseconds link_wait{0};  ///< the time for which they waited for links, together
  std::uint64_t in_flight = 0;            ///< submitted, not arrived yet
  std::uint64_t in_flight_max = 0;
};

struct sim_options {
  machine::simulation_options machine;
  machine::network_options network;
};

class sim_endpoint;

/// The machine and its network. Single-threaded; endpoints must not outlive it. A message becomes visible to poll by an
/// event, so nothing moves but through advance.
class sim_fabric final : public fabric {
 public:
  struct state;  // shared by all endpoints

  /// `ranks` is 1 to 2^24. Throws setup_error when the network cannot be wired.
  sim_fabric(std::uint32_t ranks, const sim_options& options);
  ~sim_fabric() override;

  [[nodiscard]] std::uint32_t size() const noexcept override;
  [[nodiscard]] std::span<const rank_id> local_ranks() const noexcept override;
  [[nodiscard]] std::unique_ptr<endpoint> open(rank_id rank) override;
  /// `ended` is called, and does not return, when a rank sends behind the last time of a departure, which else aborts.
  void set_end_of_time(void (*ended)(rank_id source)) noexcept;
  /// Calls machine().step().
  bool advance() override;

  /// The clock and event queue of all ranks. Lives as long as the fabric.
  [[nodiscard]] machine::simulation& machine() noexcept;
  [[nodiscard]] const machine::network& network() const noexcept;

  [[nodiscard]] const rank_traffic& traffic(rank_id rank) const noexcept;
  [[nodiscard]] const network_traffic& traffic() const noexcept;
  /// Messages that were submitted and not handed out, and copies that have begun and were not returned as ended; one
  /// more for each rank whose messages to another one were refused.
  /// Without messages that can cause no work: see is_idle.
  [[nodiscard]] std::uint64_t effects_under_way() const noexcept;

  /// Those idle messages that count for quiescence: objects that move. So many units are created and not done.
  [[nodiscard]] std::uint64_t idle_units_under_way() const noexcept;

  /// Messages to that handler are idle from now on: they can cause nothing but more idle ones.
  void note_idle(handler_id handler);
  /// Whether a message is idle: one to such a handler, credit, or an object that moves and has no waiting messages.
  /// Credit may let messages leave, but these are in an outbox until then.
  [[nodiscard]] bool is_idle(const message_header& header) const noexcept;

 private:
  std::unique_ptr<state> state_;
};

/// One rank's endpoint. `submit` spends the send overhead of each message at the machine's clock. `poll` spends the
/// cost of a poll, and the receive overhead of each message that it hands out. Both must run inside the event of the
/// activity that calls them. `submit` takes all messages, but none while the target's input buffer holds back others of
/// this rank; when it no longer does, the arrival hook of this rank is called. The credits of the layers above bound
/// the messages in flight. Bodies must be packed.
class sim_endpoint final : public endpoint, private direct_memory, private datagram_service {
 public:
  using hook = void (*)(void* subject);

  sim_endpoint(sim_fabric::state& shared, rank_id rank) noexcept : shared_(shared), rank_(rank) {}
  ~sim_endpoint() override;

  /// Calls `arrived(subject)` inside the event by which a message becomes visible to `poll`, once for each such event,
  /// also when other messages wait already. Null ends the calls.
  void set_arrival_hook(hook arrived, void* subject) noexcept;

  /// Messages that `poll` would hand out now.
  [[nodiscard]] std::size_t waiting() const noexcept;

  [[nodiscard]] rank_id rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override;
  [[nodiscard]] const capabilities& declared() const noexcept override;
  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  /// Virtual time cannot wait: both abort.
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  [[nodiscard]] std::optional<failure> failed() override { return std::nullopt; }
  [[nodiscard]] direct_memory* direct() noexcept override { return this; }
  [[nodiscard]] datagram_service* datagrams() noexcept override { return this; }
  /// True until the last byte has left the port, at the machine's now().
  [[nodiscard]] bool unsent() const noexcept override;
  void close(std::chrono::nanoseconds timeout) override;

 private:
  bool reaches(rank_id peer) const noexcept override;
  std::optional<registered_region> register_region(rank_id target, std::span<std::byte> bytes, copy_way way) override;
  void deregister(rank_id source, const registered_region& region) noexcept override;
  copy_outcome copy(const direct_copy& direct_copy) override;
  void stop(std::uint64_t tag) noexcept override;
  std::optional<ended_copy> take_ended() override;

  bool sends_to(rank_id target) const noexcept override;
  std::size_t bytes_max() const noexcept override { return 1200; }
  bool send(rank_id target, std::uint32_t label, byte_pieces pieces) override;
  std::optional<received_datagram> take() override;

  struct kept_datagram {
    rank_id source;
    message_ptr carried;
  };
  sim_fabric::state& shared_;
  rank_id rank_;
  std::vector<kept_datagram> kept_;  // of the last poll
  std::size_t taken_ = 0;            // of these
};

/// The options of the backend (names begin with "sim."), for its row in the table of backends.
[[nodiscard]] std::span<const option> sim_option_rows() noexcept;

/// The values from the configuration; `seed` seeds the machine. Throws setup_error for values that contradict each
/// other.
[[nodiscard]] sim_options read_sim_options(const config& configuration, std::uint64_t seed);

/// The backend's make_local. Takes the seed from the option "seed" when the configuration declares it, otherwise 1.
[[nodiscard]] std::unique_ptr<fabric> make_sim_fabric(std::uint32_t ranks, const config& configuration);

}  // namespace nacre::transport
