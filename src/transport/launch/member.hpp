// SPDX-License-Identifier: Apache-2.0
// The one rank that this process is, in a job that a launcher has started: how it gets in, and the fabric it is then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/launch/job_ticket.hpp"
#include "transport/launch/meeting.hpp"
#include "transport/launch/pmix_job.hpp"
#include "transport/net/door.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::launch {

/// The option by which a backend says way_in::connect_timeout.
[[nodiscard]] constexpr option connect_timeout_option(std::string_view name) noexcept {
  return {.name = name,
          .kind = option_kind::duration,
          .default_value = "30s",
          .range = "10ms..1000s",
          .help = "How long a rank waits for all others when the job begins"};
}

/// How a rank joins its job.
struct way_in {
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(30);
  std::string_view time_option = "tcp.connect_timeout";  ///< which says that
  std::string interface = "";     ///< where it listens, as net::own_interface; empty: chosen
  bool on_loopback = false;       ///< listens where its own host alone can reach it
  std::uint32_t connections = 1;  ///< with each peer, at most
  std::uint64_t handlers = 0;     ///< program::handlers
  /// Goes with the own address to each peer (peer_identity::address, behind a slash), when it is not empty; peers with
  /// equal notes make a single connection.
  std::string note = "";
};

/// A rank whose connections to all peers stand.
struct arrival {
  peer_identity self;
  std::vector<guests_of_rank> guests;  ///< by rank; empty for the own one
  std::unique_ptr<net::door> entrance;
  std::shared_ptr<control_line> line;  ///< null: no launcher of Nacre
  net::time_point deadline;

  /// Gives up the first connection with each peer; the own place is empty.
  [[nodiscard]] std::vector<std::optional<net::guest>> take_first_guests();
};

/// What a peer has sent as its note; empty: none.
[[nodiscard]] std::string_view note_of(const peer_identity& peer) noexcept;

/// Joins the job of a ticket, or of a launcher that speaks PMIx: listens, learns where the others do, and meets them.
/// Blocks; throws setup_error or job_aborted.
[[nodiscard]] arrival arrive(const job_ticket& ticket, const way_in& how);
[[nodiscard]] arrival arrive(pmix_job& job, const way_in& how);

/// This process's place in its job.
class membership {
 public:
  /// As PMIx or nacre run has it. Once a process; throws setup_error.
  membership();

  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] std::uint32_t ranks_on_host() const noexcept;
  /// See launch::arrive. Once.
  [[nodiscard]] arrival arrive(const way_in& how);

 private:
  // There is no line to a launcher that speaks PMIx: a rank that loses a peer says so itself.
  std::variant<std::unique_ptr<pmix_job>, job_ticket> by_;
  rank_id rank_;
};

/// A fabric of one rank, which meets the others when it is opened and makes its end of what comes of that.
class member_fabric final : public fabric {
 public:
  using end_maker = std::function<std::unique_ptr<endpoint>(arrival)>;

  member_fabric(membership self, way_in how, end_maker make);
  /// As PMIx or nacre run has it.
  member_fabric(way_in how, end_maker make) : member_fabric(membership(), std::move(how), std::move(make)) {}

  std::uint32_t size() const noexcept override { return self_.size(); }
  std::uint32_t ranks_on_host() const noexcept override { return self_.ranks_on_host(); }
  std::span<const rank_id> local_ranks() const noexcept override { return {&rank_, 1}; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  membership self_;
  rank_id rank_;
  way_in how_;
  end_maker make_;
};

}  // namespace nacre::transport::launch
