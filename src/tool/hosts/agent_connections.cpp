// SPDX-License-Identifier: Apache-2.0
// The launcher's connections to its agents.
#include "tool/hosts/agent_connections.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nacre::tool {

agent_connections::agent_connections(std::uint32_t hosts, net::unique_fd listening_socket)
    : secret_(job_secret::generate()), connections_(hosts, secret_, std::move(listening_socket)), heard_(hosts) {}

void agent_connections::poll(time_point now, std::vector<agent_report>& reports) {
  connections_.poll(now, *this);
  if (heard_count_ == heard_.size()) connections_.job_begins(now);
  std::move(reports_.begin(), reports_.end(), std::back_inserter(reports));
  reports_.clear();
}

std::optional<std::string> agent_connections::refusal(std::uint32_t host) const {
  if (!heard_[host]) return std::nullopt;
  return "its host has an agent already";
}

bool agent_connections::received(std::uint32_t host, host_message m) {
  if (!heard_[host]) ++heard_count_;
  heard_[host] = true;
  reports_.push_back({.host = host, .message = std::move(m)});
  return true;
}

void agent_connections::disconnected(std::uint32_t host, bool sound) {
  if (!sound || heard_[host]) reports_.push_back({.host = host, .message = std::nullopt});
}

}  // namespace nacre::tool
