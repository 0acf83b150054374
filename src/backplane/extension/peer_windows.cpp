// SPDX-License-Identifier: Apache-2.0
// Counts the messages of an extension module that are under way.
#include "backplane/extension/peer_windows.hpp"

#include <algorithm>

namespace nacre {

peer_windows::peer& peer_windows::find(rank_id rank) {
  last_ = &all_.try_emplace(rank.value(), all_.get_allocator().resource()).first->second;
  last_rank_ = rank;
  return *last_;
}

void peer_windows::send_control(rank_id to, std::span<const std::byte> bytes) {
  peer& at = of(to);
  if (at.controls < controls_max) {
    ++at.controls;
    return link_.send_control(to, module_, bytes);
  }
  small_message& kept = at.waiting.emplace_back();
  kept.bytes = static_cast<std::uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), kept.content.begin());
}

bool peer_windows::send_datagram(rank_id to, std::span<const std::byte> bytes) {
  if (link_.has_datagrams(to)) return link_.send_datagram(to, module_, bytes);
  peer& at = of(to);
  if (at.datagrams >= datagrams_max) return false;
  ++at.datagrams;
  return link_.send_datagram(to, module_, bytes);
}

void peer_windows::note_control(rank_id from) {
  peer& at = of(from);
  if (++at.handled_controls >= controls_max / 4) tell(from, at);
}

void peer_windows::note_datagram(rank_id from) {
  peer& at = of(from);
  if (++at.handled_datagrams >= datagrams_max / 4) tell(from, at);
}

void peer_windows::tell(rank_id to, peer& at) {
  link_.send_handled(to, module_, at.handled_controls, at.handled_datagrams);
  at.handled_controls = at.handled_datagrams = 0;
}

void peer_windows::tell_all() {
  for (auto& [rank, at] : all_) {
    if (at.handled_controls != 0 || at.handled_datagrams != 0) tell(rank_id(rank), at);
  }
}

void peer_windows::take_handled(rank_id from, std::uint32_t controls, std::uint32_t datagrams) {
  const auto known = all_.find(from.value());
  if (known == all_.end()) return;
  peer& at = known->second;
  at.controls -= std::min(at.controls, controls);
  at.datagrams -= std::min(at.datagrams, datagrams);
  while (at.controls < controls_max && !at.waiting.empty()) {
    const small_message& next = at.waiting.front();
    ++at.controls;
    link_.send_control(from, module_, std::span(next.content).first(next.bytes));
    at.waiting.pop_front();
  }
}

}  // namespace nacre
