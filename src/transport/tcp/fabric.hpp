// SPDX-License-Identifier: Apache-2.0
// The fabrics of the backend tcp: all ranks in one process for tests, or one rank of a job that a launcher has started.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/launch/job_ticket.hpp"
#include "transport/launch/meeting.hpp"
#include "transport/launch/pmix_job.hpp"
#include "transport/net/door.hpp"
#include "transport/net/refusal_log.hpp"
#include "transport/net/socket.hpp"
#include "transport/transport.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::tcp {

/// What the configuration says.
struct settings {
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(30);
  std::size_t output_bytes_max = std::size_t{8} << 20;  ///< for each connection
  std::uint32_t connections = channel_count;            ///< with each peer, see endpoint_parts
  std::string interface = "";                           ///< as net::own_interface; empty: chosen
  std::uint64_t handlers = 0;                           ///< program::handlers
};

/// A rank whose connections to all peers stand.
struct arrival {
  peer_identity self;
  std::vector<launch::guests_of_rank> guests;  ///< by rank; empty for the own one
  std::unique_ptr<net::door> entrance;
  std::unique_ptr<launch::control_line> line;  ///< null: no launcher of Nacre
  net::time_point deadline;
};

/// Joins the job of a ticket, or of a launcher that speaks PMIx: listens, learns where the others do, and meets them.
/// `note` goes with the own address to each peer (peer_identity::address, behind a slash), when it is not empty; peers
/// with equal notes make a single connection. Blocks; throws setup_error or job_aborted.
[[nodiscard]] arrival arrive(const launch::job_ticket& ticket, const settings& how, const std::string& note = "");
[[nodiscard]] arrival arrive(launch::pmix_job& job, const settings& how, const std::string& note = "");

/// What a peer has sent as its note; empty: none.
[[nodiscard]] std::string_view note_of(const peer_identity& peer) noexcept;

/// The values of the options of tcp; their defaults where they are not declared.
[[nodiscard]] settings read_settings(const config& configuration);

/// All ranks in this process, over the loopback interface, with a secret of their own. The ranks' ends must be opened
/// by threads of their own, because each waits for all others.
class local_fabric final : public fabric {
 public:
  local_fabric(std::uint32_t ranks, const settings& how, net::line_sink log = net::write_error_line);

  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(local_ranks_.size()); }
  std::span<const rank_id> local_ranks() const noexcept override { return local_ranks_; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

  /// Where the rank listens, until it has closed.
  [[nodiscard]] const std::string& address_of(rank_id rank) const { return addresses_[rank.value()]; }
  [[nodiscard]] const job_secret& secret() const noexcept { return secret_; }

 private:
  settings settings_;
  net::line_sink log_;
  job_secret secret_;
  std::vector<rank_id> local_ranks_;
  std::vector<std::string> addresses_;
  std::vector<net::unique_fd> listeners_;  // by rank; open takes its own
};

/// The one rank that this process is.
class job_fabric final : public fabric {
 public:
  job_fabric(launch::job_ticket ticket, const settings& how);

  std::uint32_t size() const noexcept override { return ticket_.size; }
  std::span<const rank_id> local_ranks() const noexcept override { return {&ticket_.rank, 1}; }
  std::uint32_t ranks_on_host() const noexcept override { return ticket_.ranks_on_host; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  settings settings_;
  launch::job_ticket ticket_;
};

/// The one rank that this process is, in a job of a launcher that speaks PMIx. There is no line to that launcher: a
/// rank that loses a peer says so itself.
class pmix_fabric final : public fabric {
 public:
  explicit pmix_fabric(const settings& how) : settings_(how), rank_(job_.rank()) {}

  std::uint32_t size() const noexcept override { return job_.size(); }
  std::span<const rank_id> local_ranks() const noexcept override { return {&rank_, 1}; }
  std::uint32_t ranks_on_host() const noexcept override { return job_.ranks_on_host(); }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  settings settings_;
  launch::pmix_job job_;
  rank_id rank_;
};

}  // namespace nacre::transport::tcp
