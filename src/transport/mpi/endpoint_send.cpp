// SPDX-License-Identifier: Apache-2.0
// How a rank's end sends messages.
#include <algorithm>
#include <cstring>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/brief_header.hpp"
#include "transport/mpi/endpoint.hpp"

namespace nacre::transport::mpi {
namespace {

/// Header and payload, which are contiguous.
std::span<const std::byte> frame_of(const message& m) noexcept {
  return {m.body() - header_bytes, header_bytes + m.header.payload_bytes};
}

}  // namespace

void mpi_endpoint::submit(rank_id to, message_list& batch) {
  NACRE_EXPECT(to.value() < peers_.size(), "no such rank");
  if (batch.empty()) return;
  if (to == rank_) {
    own_.append(batch);
    return wake();
  }
  const std::lock_guard turn(shared_->turn);
  stirred_.store(true, std::memory_order_relaxed);  // a hint: a reply may come soon
  peer& target = peers_[to.value()];
  if (target.links[static_cast<std::size_t>(batch.front()->header.channel)].bodies_pending != 0) {
    // A handler that sends one long message after the other leaves MPI no other time to move them.
    complete_transfers();
    pump();
  }
  while (!batch.empty() && target.now == peer::state::present) {
    const auto lane = static_cast<std::uint32_t>(batch.front()->header.channel);
    link& via = target.links[lane];
    if (via.waiting.empty() && !full(via, lane)) {
      start({to.value(), lane}, packed_form(batch.pop_front()));
      continue;
    }
    if (via.waiting_bytes >= settings_.output_bytes_max) return;
    message_ptr m = packed_form(batch.pop_front());
    if (via.waiting.empty()) busy_.push_back({to.value(), lane});
    via.waiting_bytes += header_bytes + m->header.payload_bytes;
    via.waiting.push_back(std::move(m));
  }
  if (target.now != peer::state::present) batch.clear();
}

bool mpi_endpoint::full(const link& to, std::uint32_t lane) const noexcept {
  return to.matched_pending == 2 || to.bodies_pending == bodies_max || to.pieces_pending >= pieces_pending_max ||
         sending_[lane] >= sends_max;
}

void mpi_endpoint::start(place where, message_ptr m) {
  if (header_bytes + m->header.payload_bytes <= settings_.shape.bytes - slot_bytes_spared) {
    send_piece(where, std::move(m));
  } else {
    send_notice_and_body(where, std::move(m));
  }
}

bool mpi_endpoint::completes_window(link& to, std::size_t piece_bytes) const noexcept {
  const std::size_t slot = settings_.shape.bytes;
  to.window_filled += std::max(piece_bytes, slot / short_pieces_in_a_slot);
  return to.window_filled >= window_slots * slot;
}

/// Most fragments have left when the call returns, and need no record.
void mpi_endpoint::send_piece(place where, message_ptr m) {
  link& via = peers_[where.peer].links[where.lane];
  transfer_request request{where.lane, where.peer, next_ticket()};
  std::span<const std::byte> piece = frame_of(*m);
  if (words_) {
    if (const auto brief = abridge(m->header, rank_.value(), where.lane)) {
      request.word = word_of_brief(*brief);
      piece = m->payload();
    }
  }
  const bool matched = completes_window(via, piece.size());
  const outcome how = port_->send(request, piece, matched ? port::completion::matched : port::completion::buffered);
  if (how == outcome::done && !matched) return;
  transfer& it = begin(matched ? transfer::kind::matched : transfer::kind::piece, where);
  it.m = std::move(m);
  settle(it, how);
}

void mpi_endpoint::send_notice_and_body(place where, message_ptr m) {
  link& via = peers_[where.peer].links[where.lane];
  const bool matched = completes_window(via, settings_.shape.bytes);  // for its payload, too, which MPI may buffer
  transfer& notice = begin(matched ? transfer::kind::matched : transfer::kind::piece, where);
  std::memcpy(notice.notice.data(), &m->header, header_bytes);
  settle(notice, port_->send({where.lane, where.peer, notice.ticket}, notice.notice,
                             matched ? port::completion::matched : port::completion::buffered));
  if (peers_[where.peer].now != peer::state::present) return;
  transfer& body = begin(transfer::kind::body, where);
  body.m = std::move(m);
  settle(body, port_->send_body({where.lane, where.peer, body.ticket}, body.m->payload()));
}

/// The request id of the next transfer.
std::uint32_t mpi_endpoint::next_ticket() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back().ticket = free_.back();
  }
  return free_.back();
}

mpi_endpoint::transfer& mpi_endpoint::begin(transfer::kind what, place of) {
  transfer& it = transfers_[next_ticket()];
  free_.pop_back();
  it.what = what;
  it.of = of;
  link& via = peers_[of.peer].links[of.lane];
  if (what == transfer::kind::arriving) {
    ++receiving_;
    return it;
  }
  ++sending_[of.lane];
  if (what == transfer::kind::body) ++via.bodies_pending;
  if (what == transfer::kind::piece) ++via.pieces_pending;
  if (what == transfer::kind::matched) {
    via.window_filled = 0;
    ++via.matched_pending;
  }
  return it;
}

/// Handles the outcome of a call: the transfer goes on, or it ends.
void mpi_endpoint::settle(transfer& it, outcome how) {
  if (how == outcome::pending) return;
  link& via = peers_[it.of.peer].links[it.of.lane];
  const bool arrives = it.what == transfer::kind::arriving;
  if (arrives) {
    --receiving_;
    receiving_bytes_ -= it.into->m->header.payload_bytes;
    body_patience_.restart();
    if (how == outcome::done) {
      it.into->complete = true;
      bodies_arrived_.push_back(it.of);
    }
  } else {
    --sending_[it.of.lane];
    if (it.what == transfer::kind::body) --via.bodies_pending;
    if (it.what == transfer::kind::piece) --via.pieces_pending;
    if (it.what == transfer::kind::matched) --via.matched_pending;
  }
  it.what = transfer::kind::unused;
  it.m.reset();
  free_.push_back(it.ticket);
  if (how != outcome::failed) return;
  // A rank that has sent its close message need not wait for transfers to it.
  if (arrives || peers_[it.of.peer].now == peer::state::present) {
    lose(it.of.peer, std::string("cannot be reached by MPI: ") + port_->error());
  }
}

bool mpi_endpoint::complete_transfers() {
  std::array<std::uint64_t, 64> tickets;
  const port::completions ended = port_->completed(tickets);
  for (std::uint32_t i = 0; i < ended.count; ++i) {
    const bool well = i + ended.failed < ended.count;
    settle(transfers_[tickets[i]], well ? outcome::done : outcome::failed);
  }
  return ended.count != 0;
}

/// Starts waiting messages, as far as the links take them.
bool mpi_endpoint::pump() {
  bool moved = false;
  for (std::size_t i = 0; i < busy_.size();) {
    const place where = busy_[i];
    link& via = peers_[where.peer].links[where.lane];
    while (!via.waiting.empty() && !full(via, where.lane)) {
      message_ptr m = via.waiting.pop_front();
      via.waiting_bytes -= header_bytes + m->header.payload_bytes;
      start(where, std::move(m));
      moved = true;
    }
    if (via.waiting.empty()) {
      busy_[i] = busy_.back();
      busy_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

}  // namespace nacre::transport::mpi
