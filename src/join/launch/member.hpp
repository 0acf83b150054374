// SPDX-License-Identifier: Apache-2.0
// The one rank that this process is, in a job that a launcher has started: how it joins.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/config.hpp>

#include "join/launch/job_credentials.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/launch/peer_connections.hpp"
#include "join/launch/pmix_job.hpp"
#include "join/net/listener.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// The option of a backend that sets join_options::connect_timeout.
[[nodiscard]] constexpr option connect_timeout_option(std::string_view name) noexcept {
  return {.name = name,
          .kind = option_kind::duration,
          .default_value = "30s",
          .range = "10ms..1000s",
          .help = "How long a rank waits for all others when the job begins"};
}

/// How a rank joins its job.
struct join_options {
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(30);
  std::string_view time_option = "tcp.connect_timeout";  ///< the option that sets it
  std::string interface = "";                            ///< where it listens, see net::own_interface; empty: chosen
  bool on_loopback = false;                              ///< listens on the loopback interface only
  std::uint32_t connections = 1;                         ///< with each peer, at most
  std::uint64_t handlers = 0;                            ///< program::handlers
  /// Travels with the own address to each peer (peer_identity::address, behind a slash) unless it is empty. Two peers
  /// with equal notes make a single connection.
  std::string note = "";
};

/// A rank that has joined its job: the connections to all peers stand.
struct joined_rank {
  peer_identity self;
  job_secret secret;
  std::vector<candidates_of_rank> candidates;  ///< by rank; empty for the own one
  std::unique_ptr<net::listener> listener;
  std::shared_ptr<launcher_connection> launcher;  ///< null: no launcher of Nacre
  net::time_point deadline;

  /// Moves the first connection with each peer out and closes the others; the own place is empty.
  [[nodiscard]] std::vector<std::optional<net::peer_candidate>> take_first_candidates();
};

/// The note that a peer has sent; empty: none.
[[nodiscard]] std::string_view note_of(const peer_identity& peer) noexcept;

/// Joins the job of the given credentials, or of a launcher that speaks PMIx: listens, learns the addresses of the
/// others, and connects to them. Blocks; throws setup_error or job_aborted.
[[nodiscard]] joined_rank join(const job_credentials& credentials, const join_options& options);
[[nodiscard]] joined_rank join(pmix_job& job, const join_options& options);

/// This process's place in its job.
class membership {
 public:
  /// Asks PMIx, or takes the credentials from nacre run. Once in a process; throws setup_error.
  membership();

  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] std::uint32_t ranks_on_host() const noexcept;
  /// The ranks of this host that compete with this one for its processors, itself included. Under PMIx all ranks of the
  /// job must call it, before join, and it waits for them; throws setup_error.
  [[nodiscard]] std::uint32_t count_ranks_sharing_cores(const join_options& options);
  /// The position of this rank among those of its host; nothing under a foreign launcher (srun, mpirun), which binds
  /// processes itself.
  [[nodiscard]] std::optional<std::uint32_t> place_on_host() const noexcept;
  /// Calls launch::join. Once.
  [[nodiscard]] joined_rank join(const join_options& options);

 private:
  // There is no launcher connection under PMIx: a rank that loses a peer prints the line itself.
  std::variant<std::unique_ptr<pmix_job>, job_credentials> bootstrap_;
  rank_id rank_;
};

}  // namespace nacre::launch
