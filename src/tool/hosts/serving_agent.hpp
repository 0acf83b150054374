// SPDX-License-Identifier: Apache-2.0
// The launcher's agent on a host, in the background: serves its ranks until they or the launcher have ended.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "join/net/socket_handshake.hpp"
#include "tool/hosts/host_message.hpp"
#include "tool/rank_group.hpp"

namespace nacre::tool {

/// The states are in host_agent.hpp. Must run in the only thread of its process.
class serving_agent {
 public:
  /// `launcher` has completed the handshake. Blocks SIGCHLD.
  serving_agent(const rank_launch_spec& rank_spec, std::vector<std::uint32_t> ranks, net::peer_candidate launcher);
  serving_agent(const serving_agent&) = delete;
  serving_agent& operator=(const serving_agent&) = delete;

  /// Sends `host` and serves until the connection to the launcher ends. Returns the exit code.
  [[nodiscard]] int run(const host_ready& host);

 private:
  struct source {
    std::uint32_t rank = 0;
    bool to_error = false;
    unique_fd pipe;
    std::size_t owed = 0;  // bytes that were in the pipe when the last rank had ended
  };

  void wait() const;
  void hear_launcher();
  void apply(const host_message& m);
  void start();
  void take_input(std::string text);
  void pump_input();
  void pump_output();
  void reap();
  void note_end();
  void finish_when_done();
  void send(const host_message& m);
  void flush();

  const rank_launch_spec& rank_spec_;
  std::vector<std::uint32_t> ranks_;
  unique_fd launcher_;
  host_stream stream_;
  unique_fd signals_;
  rank_group group_;
  std::list<source> sources_;
  std::size_t ahead_ = 0;  // bytes of output that are not acknowledged
  unique_fd input_;        // the pipe of rank 0
  std::string input_text_;
  bool started_ = false;
  bool trouble_ = false;
  bool done_ = false;
  std::optional<time_point> all_ended_;
};

}  // namespace nacre::tool
