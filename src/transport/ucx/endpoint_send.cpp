// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint sends messages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/frame.hpp"
#include "transport/ucx/compact_frame.hpp"
#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {

void ucx_endpoint::submit(rank_id to, message_list& batch) {
  NACRE_EXPECT(to.value() < peers_.size(), "no such rank");
  if (batch.empty()) return;
  if (to == rank_) {
    own_.append(batch);
    flags_.note_own();
    return wake();
  }
  const std::scoped_lock lock(lock_);
  peer& target = peers_[to.value()];
  while (!batch.empty() && target.now == peer::state::present) {
    const auto channel_index = static_cast<std::uint32_t>(batch.front()->header.channel);
    link& via = target.links[channel_index];
    if (via.waiting.empty() && !full(via)) {
      message_ptr m = packed_form(batch.pop_front());
      if (!start_compact({to.value(), channel_index}, target, via, *m))
        start({to.value(), channel_index}, std::move(m));
      continue;
    }
    if (via.waiting_bytes >= output_bytes_max_) return;
    message_ptr m = packed_form(batch.pop_front());
    if (via.waiting.empty()) busy_.add({to.value(), channel_index});
    via.waiting_bytes += frame_of(*m).size();
    via.waiting.push_back(std::move(m));
  }
  if (target.now != peer::state::present) batch.clear();
}

bool ucx_endpoint::full(const link& to) const noexcept {
  return !to.under_way.empty() &&
         (to.under_way.size() >= frames_max || to.sent_bytes - to.under_way.front().behind_bytes >= output_bytes_max_);
}

/// A frame that UCX takes at once needs no transfer. The stamp overwrites the end of the header, which lies right in
/// front of the payload and is not needed any more. False: nothing has happened.
bool ucx_endpoint::start_compact(place_of where, const peer& target, link& via, message& m) {
  if (!via.under_way.empty()) return false;
  stamp with{.key = target.parts.key_there, .source = rank_.value(), .sequence = via.sent};
  if (!compress(m.header, where.channel_index, with)) return false;
  const std::size_t payload_bytes = m.header.payload_bytes;
  std::byte* const stamped = m.body() - sizeof with;
  std::array<std::byte, sizeof with> end_of_header;
  std::memcpy(end_of_header.data(), stamped, sizeof with);
  std::memcpy(stamped, &with, sizeof with);
  if (!port_->send_at_once(where.peer, where.channel_index, {stamped, sizeof with + payload_bytes})) {
    std::memcpy(stamped, end_of_header.data(), sizeof with);
    return false;
  }
  ++via.sent;
  via.sent_bytes += payload_bytes;
  via.flushed = false;
  return true;
}

void ucx_endpoint::start(place_of where, message_ptr m) {
  NACRE_EXPECT(m->packed() && m->header.payload_bytes <= declared().payload_bytes_max,
               "only bytes leave the address space, at most payload_bytes_max");
  link& via = peers_[where.peer].links[where.channel_index];
  transfer& it = begin(transfer::kind::frame, where);
  via.flushed = false;
  it.with.sequence = via.sent++;
  it.m = std::move(m);
  std::span<const std::byte> frame = frame_of(*it.m);
  if (compress(it.m->header, where.channel_index, it.with)) frame = it.m->payload();
  const std::uint64_t behind = std::exchange(via.sent_bytes, via.sent_bytes + frame.size());
  const outcome how = port_->send(where.peer, where.channel_index, frame_kind::message, it.with, frame, it.request_id);
  if (how == outcome::pending || !via.under_way.empty()) {
    it.number = via.first_under_way + via.under_way.size();
    via.under_way.push_back({.behind_bytes = behind, .complete = how != outcome::pending});
  }
  handle_outcome(it, how);
}

ucx_endpoint::transfer& ucx_endpoint::begin(transfer::kind what, place_of of) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back().request_id = free_.back();
  }
  transfer& it = transfers_[free_.back()];
  free_.pop_back();
  it.what = what;
  it.of = of;
  it.with.key = peers_[of.peer].parts.key_there;
  it.with.source = rank_.value();
  it.with.form = 0;
  return it;
}

/// Handles the outcome of a send: it goes on, or it ends.
void ucx_endpoint::handle_outcome(transfer& it, outcome how) {
  if (how == outcome::pending) {
    ++sending_;
    return;
  }
  release_transfer(it);
  if (how == outcome::failed) suspect(it.of.peer, port_->error());
}

void ucx_endpoint::release_transfer(transfer& it) {
  it.what = transfer::kind::unused;
  it.m.reset();
  free_.push_back(it.request_id);
}

void ucx_endpoint::note_complete(link& via, std::uint64_t number) {
  via.under_way[number - via.first_under_way].complete = true;
  for (; !via.under_way.empty() && via.under_way.front().complete; via.under_way.pop_front()) ++via.first_under_way;
}

/// Starts waiting messages, as far as the links take them.
bool ucx_endpoint::pump() {
  bool moved = false;
  busy_.visit([&](place_of where) {
    link& via = peers_[where.peer].links[where.channel_index];
    for (; !via.waiting.empty() && !full(via); moved = true) {
      message_ptr m = via.waiting.pop_front();
      via.waiting_bytes -= frame_of(*m).size();
      start(where, std::move(m));
    }
    return !via.waiting.empty();
  });
  return moved;
}

void ucx_endpoint::forget_waiting(peer& to) {
  for (link& each : to.links) {
    each.waiting.clear();  // pump removes it from busy_
    each.waiting_bytes = 0;
  }
}

}  // namespace nacre::transport::ucx
