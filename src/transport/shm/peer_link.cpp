// SPDX-License-Identifier: Apache-2.0
// One rank's rings to and from one peer, and how it learns of the peer's end.
#include "transport/shm/peer_link.hpp"

#include <algorithm>
#include <utility>

namespace nacre::transport::shm {
namespace {

constexpr std::uint32_t payload_bytes_max = 1u << 30;

}  // namespace

peer_link::peer_link(rank_id peer, const places& places, const segment& ours, peer_parts parts, std::uint32_t ranks,
                     const writer_limits& limits)
    : peer_(peer),
      places_(places),
      theirs_(std::move(parts.theirs)),
      liveness_socket_(std::move(parts.liveness_socket)),
      out_{ring_writer(theirs_->ring(places_.own, 0), limits), ring_writer(theirs_->ring(places_.own, 1), limits),
           ring_writer(theirs_->ring(places_.own, 2), limits)},
      in_{ring_reader(ours.ring(places_.peer, 0),
                      {ranks, channel::system, payload_bytes_max, parts.fetch_from, peer, parts.handle}),
          ring_reader(ours.ring(places_.peer, 1),
                      {ranks, channel::application, payload_bytes_max, parts.fetch_from, peer, parts.handle}),
          ring_reader(ours.ring(places_.peer, 2),
                      {ranks, channel::bulk, payload_bytes_max, parts.fetch_from, peer, parts.handle})} {
  if (parts.fetch_from == 0) return;
  for (ring_reader& each : in_) each.offer_to_fetch();
}

void peer_link::submit(message_list& batch) {
  if (batch.empty()) return;
  if (ended()) return batch.clear();
  ring_writer& through = out_[static_cast<std::size_t>(batch.front()->header.channel)];
  if (through.submit(batch)) tell(through);
  if (through.broken()) fail("contradicts itself about what it has received");
  if (ended()) batch.clear();
}

bool peer_link::advance() {
  if (ended()) return false;
  bool moved = false;
  for (ring_writer& each : out_) {
    if (!each.unsent()) continue;
    moved |= each.advance();
    tell(each);
    if (each.broken()) {
      fail("contradicts itself about what it has received");
      return true;
    }
  }
  return moved;
}

/// Tells the reader of the slots that have been published: rings its doorbell, wakes it.
void peer_link::tell(ring_writer& through) {
  if (!through.take_published()) return;
  segment_head& head = theirs_->head();
  if (through.mode() != attention::polled) {
    shared(head.doorbells[places_.own / 64]).fetch_or(std::uint64_t{1} << places_.own % 64);
  }
  wake_if_asleep(head);
}

void peer_link::after_receive(ring_reader& reader) {
  if (reader.take_wakeup_request()) wake_if_asleep(theirs_->head());
  if (const int refusal = reader.take_refusal(); refusal != 0) refusal_ = refusal;
  if (const auto error = reader.error()) return fail(*error);
  if (reader.over() && std::all_of(in_.begin(), in_.end(), [](const ring_reader& each) { return each.over(); })) {
    end(state::over);
  }
}

void peer_link::send_shutdown() {
  for (ring_writer& each : out_) each.send_shutdown();
}

void peer_link::read_liveness_socket() {
  if (state_ != state::open) return;
  std::array<std::byte, 64> unwanted;
  const std::ptrdiff_t received = net::receive_some(liveness_socket_.get(), unwanted.data(), unwanted.size());
  if (received == 0) return;
  if (received > 0) return fail("sent something where nothing is to be sent");
  liveness_socket_.reset();
  state_ = state::dying;
}

void peer_link::finish() {
  if (state_ == state::dying && !ready()) fail("ended without a shutdown");
}

void peer_link::fail(std::string_view reason) {
  if (ended()) return;
  reason_ = reason;
  end(state::failed);
}

void peer_link::end(state state) {
  if (ended()) return;
  state_ = state;
  liveness_socket_.reset();
  for (ring_writer& each : out_) each.drop();
}

}  // namespace nacre::transport::shm
