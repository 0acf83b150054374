// SPDX-License-Identifier: Apache-2.0
// The control server, the launcher's side: ranks join there, report failures, and are told of the job's end.
#include "join/launch/control_server.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nacre::launch {

control_server::control_server(std::uint32_t size, const job_secret& secret, const net::address& address)
    : connections_(size, secret, net::listen_at(address)), members_(size) {}

void control_server::poll(net::time_point now, std::vector<report>& reports) {
  connections_.poll(now, *this);
  if (complete_) connections_.job_begins(now);
  std::move(reports_.begin(), reports_.end(), std::back_inserter(reports));
  reports_.clear();
}

std::optional<std::string> control_server::refusal(std::uint32_t rank) const {
  if (members_[rank].address.empty()) return std::nullopt;
  return "it says it is rank " + std::to_string(rank) + ", which has joined already";
}

void control_server::connected(std::uint32_t rank) {
  if (announced_) connections_.send(rank, *announced_);
  if (wish_) connections_.send(rank, *wish_);
}

bool control_server::received(std::uint32_t rank, control_message m) {
  member& member = members_[rank];
  if (auto* arrival = std::get_if<joined>(&m)) {
    if (!member.address.empty() || !net::address::parse(arrival->address)) return false;
    member.address = arrival->address;
    reports_.push_back({.source = rank_id(rank), .event = std::move(*arrival)});
    send_roster_when_complete();
    return true;
  }
  if (auto* failed = std::get_if<lost>(&m)) {
    if (failed->peer >= members_.size()) return false;
    if (!complete_) failed->peer = first_missing(rank);
    reports_.push_back({.source = rank_id(rank), .event = std::move(*failed)});
    return true;
  }
  if (!std::holds_alternative<left>(m)) return false;
  member.left = true;
  reports_.push_back({.source = rank_id(rank), .event = left{}});
  return true;
}

void control_server::disconnected(std::uint32_t rank, bool sound) {
  const bool may_call_again = sound && members_[rank].address.empty();
  if (members_[rank].left || may_call_again) return;
  reports_.push_back({.source = rank_id(rank), .event = launch::disconnected{}});
}

std::uint32_t control_server::first_missing(std::uint32_t otherwise) const noexcept {
  const auto position =
      std::find_if(members_.begin(), members_.end(), [](const member& m) { return m.address.empty(); });
  return position == members_.end() ? otherwise : static_cast<std::uint32_t>(position - members_.begin());
}

void control_server::send_roster_when_complete() {
  if (++joined_ < members_.size()) return;
  complete_ = true;
  roster all;
  for (const member& each : members_) all.addresses.push_back(each.address);
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) connections_.send(rank, all);
}

void control_server::announce(const aborted& aborted) {
  announced_ = aborted;
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) connections_.send(rank, aborted);
}

void control_server::ask_for_image(const image_wanted& wish) {
  wish_ = wish;
  for (std::uint32_t rank = 0; rank < members_.size(); ++rank) connections_.send(rank, wish);
}

}  // namespace nacre::launch
