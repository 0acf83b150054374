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

void peer_windows::send_control(rank_id target, std::span<const std::byte> bytes) {
  peer& peer = of(target);
  if (peer.controls < controls_max) {
    ++peer.controls;
    return link_.send_control(target, module_, bytes);
  }
  small_message& kept = peer.waiting.emplace_back();
  kept.bytes = static_cast<std::uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), kept.content.begin());
}

bool peer_windows::send_datagram(rank_id target, std::span<const std::byte> bytes) {
  if (link_.has_datagrams(target)) return link_.send_datagram(target, module_, bytes);
  peer& peer = of(target);
  if (peer.datagrams >= datagrams_max) return false;
  ++peer.datagrams;
  return link_.send_datagram(target, module_, bytes);
}

void peer_windows::note_control(rank_id source) {
  peer& peer = of(source);
  if (++peer.handled_controls >= controls_max / 4) tell(source, peer);
}

void peer_windows::note_datagram(rank_id source) {
  peer& peer = of(source);
  if (++peer.handled_datagrams >= datagrams_max / 4) tell(source, peer);
}

void peer_windows::tell(rank_id target, peer& peer) {
  link_.send_handled(target, module_, peer.handled_controls, peer.handled_datagrams);
  peer.handled_controls = peer.handled_datagrams = 0;
}

void peer_windows::tell_all() {
  for (auto& [rank, window] : all_) {
    if (window.handled_controls != 0 || window.handled_datagrams != 0) tell(rank_id(rank), window);
  }
}

void peer_windows::take_handled(rank_id source, std::uint32_t controls, std::uint32_t datagrams) {
  const auto known = all_.find(source.value());
  if (known == all_.end()) return;
  peer& peer = known->second;
  peer.controls -= std::min(peer.controls, controls);
  peer.datagrams -= std::min(peer.datagrams, datagrams);
  while (peer.controls < controls_max && !peer.waiting.empty()) {
    const small_message& next = peer.waiting.front();
    ++peer.controls;
    link_.send_control(source, module_, std::span(next.content).first(next.bytes));
    peer.waiting.pop_front();
  }
}

}  // namespace nacre
