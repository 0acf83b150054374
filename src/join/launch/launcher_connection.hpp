// SPDX-License-Identifier: Apache-2.0
// A rank's connection to its launcher, for the addresses of its peers and for reports of failures both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/ids.hpp>

#include "join/launch/control_message.hpp"
#include "join/launch/job_credentials.hpp"
#include "join/net/socket_handshake.hpp"

namespace nacre::launch {

/// The identity that a side of a control connection gives in the handshake. The launcher counts as one more rank behind
/// the others, of a job that is one larger. So a proof made for a peer is worth nothing here, nor the other way round.
/// The launcher may be another executable than the ranks.
[[nodiscard]] peer_identity control_identity(std::uint32_t rank_or_size, std::uint32_t size);

/// The reason that makes a rank give up its start.
struct start_trouble {
  rank_id peer;         ///< the rank that seems to be at fault
  std::string reason;   ///< a clause about that peer, which the launcher puts behind "rank N"
  setup_error message;  ///< for the user, where there is no launcher
};

class launcher_connection;

/// Ends the start of a rank. One missing or dead rank keeps all others from starting. So this reports to the launcher,
/// which prints one line for all of them, and throws job_aborted. Without a launcher (`launcher` is null or has ended)
/// it throws the message.
[[noreturn]] void give_up_start(launcher_connection* launcher, const start_trouble& start_trouble);

/// The rank's end of the launcher connection. Until the roster is there its members block, at most to the deadline, and
/// throw setup_error, or job_aborted when the launcher gives the job up. Afterwards nothing blocks. One thread.
class launcher_connection {
 public:
  /// Connects and proves the secret.
  launcher_connection(const job_credentials& credentials, net::time_point deadline);

  /// The address of the own end: the interface by which this host reaches the others.
  [[nodiscard]] net::address own_address() const { return net::address::of_own_end(socket_.get()); }

  /// Reports where this rank listens and waits for the addresses of all, by rank. `time_option` names the option that
  /// gives the ranks more time, for the message that not all have come.
  [[nodiscard]] std::vector<std::string> exchange_addresses(std::string own_name, net::time_point deadline,
                                                            std::string_view time_option = "tcp.connect_timeout");

  /// Readable when poll has something to do; -1 when the launcher is gone.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  /// The end of the job, if the launcher has announced it by now. The end of the launcher is an end of the job, too.
  /// A wish for a last image is noted (image_wish.hpp).
  [[nodiscard]] std::optional<aborted> poll();
  /// False once the launcher is gone and cannot print a line for this rank any more.
  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(socket_); }

  void report_lost(rank_id peer, std::string_view reason);
  void report_left();

 private:
  [[nodiscard]] std::optional<control_message> next();
  void send() noexcept;
  void receive();
  void push(const control_message& m);

  rank_id rank_;
  net::unique_fd socket_;
  control_stream stream_;
};

/// The text for the exception when the launcher ends the job.
[[nodiscard]] std::string aborted_text(const aborted& aborted);

}  // namespace nacre::launch
