// SPDX-License-Identifier: Apache-2.0
// The token of a link: requests, grants, and the turns of a holder.
#include "backplane/flow/token_link.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::flow {

namespace {

constexpr auto certain = link_settings::knowledge::certain;

}  // namespace

token_link::token_link(const participant& participant, const link_settings& settings, std::deque<std::uint64_t>& sizes,
                       flow_host& host)
    : participant_(participant),
      settings_(settings),
      host_(host),
      holds_(participant.self == participant.link),
      seen_{1, 0, participant.permit},
      suspect_(participant.link),
      came_from_(participant.link),
      sizes_(sizes),
      room_(holds_ ? settings.receive_bytes : 0) {}

message token_link::about(message_kind kind, rank_id whom) const {
  return {.kind = kind, .link = participant_.link, .subject = whom, .stamp = seen_};
}

void token_link::offer(std::uint64_t bytes, nanoseconds now) {
  NACRE_EXPECT(participant_.self != participant_.link, "a rank needs no link to itself");
  sizes_.push_back(bytes);
  pending_ += 1;
  if (holds_) {
    if (pending_ == 1) last_wait_ = {now, now};
    return advance(now);
  }
  if (pending_ != 1) return;
  last_wait_.asked = now;
  attempts_ = 0;
  request(now);
}

void token_link::request(nanoseconds now) {
  host_.send(suspect_ == participant_.self ? participant_.link : suspect_,
             about(message_kind::request, participant_.self));
  due_ = now + settings_.patience;
}

void token_link::receive(rank_id source, const message& m, nanoseconds now) {
  if (m.kind == message_kind::grant) return on_grant(source, m, now);
  // The keeper knows the holder of an epoch's token; others only mention the epoch.
  if (m.stamp.epoch > seen_.epoch) {
    if (m.kind == message_kind::hint) return note_epoch(m.stamp.epoch, m.subject, now);
    note_epoch(m.stamp.epoch, participant_.link, now);
  }
  switch (m.kind) {
    case message_kind::request:
    case message_kind::search:
      return on_request(m, now);
    case message_kind::taken:
      return on_taken(source, m, now);
    case message_kind::hint:
      return on_hint(m, now);
    case message_kind::room:
      return on_room(m, now);
    default:
      return;  // for the keeper or the receiver's schedule
  }
}

void token_link::note_epoch(std::uint32_t epoch, rank_id holder, nanoseconds now) {
  if (epoch <= seen_.epoch) return;
  seen_ = {epoch, 0, participant_.permit};
  suspect_ = holder;
  given_.reset();
  given_due_ = never;
  line_.clear();
  kept_.clear();
  const bool held = std::exchange(holds_, false);
  due_ = never;
  if (pending_ == 0) return;
  if (held) last_wait_.asked = now;
  attempts_ = 0;
  request(now);
}

/// Returns the place of a rank in the line, from 1; 0 when the line is full, so that it will ask again.
std::uint32_t token_link::line_up(rank_id rank) {
  const auto match = std::find(line_.begin(), line_.end(), rank);
  if (match == line_.end()) {
    if (line_.size() == list_max - 1) return 0;  // one place is for this rank itself
    line_.push_back(rank);
    return static_cast<std::uint32_t>(line_.size());
  }
  return static_cast<std::uint32_t>(match - line_.begin()) + 1;
}

void token_link::on_request(const message& m, nanoseconds now) {
  if (m.subject == participant_.self || m.subject.value() >= participant_.ranks) return;
  if (holds_) {
    const std::uint32_t place = line_up(m.subject);
    advance(now);
    if (!holds_ || place == 0) return;
    message reply = about(message_kind::hint, participant_.self);
    reply.number = place;
    return host_.send(m.subject, reply);
  }
  if (m.kind == message_kind::search) return;
  if (pending_ != 0) return keep(m.subject);
  const rank_id next = suspect_ == m.subject ? participant_.link : suspect_;
  if (next == participant_.self || m.number >= participant_.ranks) return;
  message onward = m;
  onward.number += 1;
  onward.stamp = seen_;
  host_.send(next, onward);
  suspect_ = m.subject;  // it will have the token later than all that are known here
}

/// The token comes here before it could come to the asker.
void token_link::keep(rank_id asker) {
  auto match = std::find(kept_.begin(), kept_.end(), asker);
  if (match == kept_.end()) {
    if (kept_.size() == list_max - 1) return;  // it will ask again
    match = kept_.insert(kept_.end(), asker);
  }
  message reply = about(message_kind::hint, participant_.self);
  reply.number = static_cast<std::uint32_t>(match - kept_.begin()) + 2;  // behind this rank
  host_.send(asker, reply);
}

void token_link::on_grant(rank_id source, const message& m, nanoseconds now) {
  if (m.stamp.epoch < seen_.epoch) return host_.send(source, about(message_kind::hint, suspect_));
  message taken = about(message_kind::taken, participant_.self);
  taken.stamp = m.stamp;
  host_.send(source, taken);
  if (m.stamp <= seen_) return;  // a copy: the acknowledgement was lost
  seen_ = m.stamp;
  holds_ = true;
  given_.reset();
  given_due_ = never;
  came_from_ = source;
  line_.clear();
  for (const std::uint32_t rank : m.list) {
    if (rank != participant_.self.value() && rank < participant_.ranks) static_cast<void>(line_up(rank_id(rank)));
  }
  for (const rank_id asker : std::exchange(kept_, {})) {
    message reply = about(message_kind::hint, participant_.self);
    reply.number = line_up(asker);
    if (reply.number != 0) host_.send(asker, reply);
  }
  turn_bytes_ = 0;
  room_ = m.room;
  wanted_due_ = now;
  free_at_ = now + std::max(nanoseconds(0), m.delay - latency_ - flights_.held_up(source, m.sent, now));
  release_at_ = now;
  last_wait_.got = now;
  advance(now);
}

void token_link::on_taken(rank_id source, const message& m, nanoseconds now) {
  if (!given_ || source != given_->target || m.stamp != given_->grant.stamp) return;
  if (given_->times == 1) {
    const nanoseconds half = (now - given_->time) / 2;
    latency_ = latency_ == nanoseconds(0) ? half : std::min(latency_, half);
  }
  given_.reset();
  given_due_ = never;
}

void token_link::on_hint(const message& m, nanoseconds now) {
  if (holds_ || m.stamp.epoch < seen_.epoch || m.subject == participant_.self) return;
  suspect_ = m.subject;
  if (pending_ == 0) return;
  if (m.number == 0) return request(now);
  attempts_ = 0;
  due_ = expected_by(m.number, now);
}

nanoseconds token_link::expected_by(std::size_t place, nanoseconds now) const {
  const std::uint64_t bytes = std::max(settings_.turn_bytes, sizes_.front());  // others send alike
  const nanoseconds turn = std::max(settings_.duration(bytes), latency_);
  return now + settings_.patience + 2 * static_cast<std::int64_t>(place) * turn;
}

/// A turn lasts a grant's flight at least. Else the link idles where messages are shorter than that.
bool token_link::turn_is_over() const {
  if (pending_ == 0) return true;
  return turn_bytes_ >= settings_.turn_bytes && settings_.duration(turn_bytes_) >= latency_;
}

void token_link::advance(nanoseconds now) {
  while (holds_) {
    due_ = never;
    if (now < release_at_) {
      due_ = release_at_;
      return;
    }
    // The turn of a holder that has sent nothing yet is not over, even if others wait: see the invariants.
    if (!line_.empty() && turn_is_over()) return pass(now);
    if (pending_ == 0) return rest();
    const nanoseconds start = free_at_ - settings_.ahead(sizes_.front(), certain);
    if (now < start) {
      due_ = start;
      return;
    }
    if (!has_room()) {
      want_room(now);
      due_ = wanted_due_;
      return;
    }
    transmit(now);
  }
}

void token_link::transmit(nanoseconds now) {
  const std::uint64_t bytes = sizes_.front();
  sizes_.pop_front();
  pending_ -= 1;
  seen_.used += bytes;
  room_ -= std::min(room_, bytes);
  turn_bytes_ += bytes;
  free_at_ = std::max(now, free_at_) + settings_.duration(bytes);
  release_at_ = free_at_ - settings_.ahead(bytes, certain) - settings_.early;
  host_.transmit(participant_.link, flow_policy::token, seen_);
  if (pending_ != 0 && !has_room()) want_room(now);  // ahead, as the answer takes its time
}

/// A message that is longer than all buffers finds room when they are empty.
bool token_link::has_room() const noexcept {
  return settings_.receive_bytes == 0 || room_ >= std::min(sizes_.front(), settings_.receive_bytes);
}

void token_link::want_room(nanoseconds now) {
  if (now < wanted_due_) return;
  wanted_due_ = now + settings_.patience;
  message wanted = about(message_kind::wanted, participant_.self);
  wanted.number = static_cast<std::uint32_t>(std::min<std::uint64_t>(sizes_.front(), ~std::uint32_t{0}));
  host_.send(participant_.link, wanted);
}

void token_link::on_room(const message& m, nanoseconds now) {
  if (!holds_ || m.stamp != seen_ || m.stamp.used > seen_.used) return;  // for a holder before, or not this token's
  const std::uint64_t used_since = seen_.used - m.stamp.used;
  if (m.room > used_since) room_ = std::max<std::uint64_t>(room_, m.room - used_since);
  wanted_due_ = now;
  advance(now);
}

void token_link::pass(nanoseconds now) {
  const rank_id next = line_.front();
  line_.pop_front();
  if (pending_ != 0) line_.push_back(participant_.self);
  seen_.pass += 1;
  message grant = about(message_kind::grant, next);
  grant.delay = std::max(nanoseconds(0), free_at_ - now);
  grant.sent = now;
  grant.room = static_cast<std::uint32_t>(std::min<std::uint64_t>(room_, ~std::uint32_t{0}));
  for (const rank_id rank : line_) grant.list.push_back(rank.value());
  holds_ = false;
  suspect_ = next;
  attempts_ = 0;
  if (pending_ != 0) {
    last_wait_.asked = now;
    due_ = expected_by(line_.size(), now);
  }
  line_.clear();
  given_ = gift{next, grant, now, 1};
  given_due_ = now + settings_.patience;
  host_.send(next, grant);
}

void token_link::rest() {
  if (hinted_ == seen_) return;
  hinted_ = seen_;
  const message hint = about(message_kind::hint, participant_.self);
  if (participant_.self != participant_.link) host_.send(participant_.link, hint);
  if (came_from_ != participant_.link && came_from_ != participant_.self) host_.send(came_from_, hint);
}

void token_link::tick(nanoseconds now) {
  if (now >= given_due_) give_again(now);
  if (now < due_) return;
  if (holds_) return advance(now);
  due_ = never;
  if (pending_ != 0) ask_again(now);
}

/// The grant or its acknowledgement is lost, or its taker is slow. A second copy of a stamp is void where the first
/// has been taken.
void token_link::give_again(nanoseconds now) {
  if (given_->times > doublings_max) {
    given_.reset();
    given_due_ = never;
    return;
  }
  given_due_ = now + settings_.patience * (std::int64_t{1} << given_->times);
  given_->times += 1;
  message again = given_->grant;
  again.delay = std::max(nanoseconds(0), again.delay - (now - given_->time));
  again.sent = now;
  host_.send(given_->target, again);
}

void token_link::ask_again(nanoseconds now) {
  attempts_ += 1;
  retries_ += 1;
  for (std::uint32_t rank = 0; rank < participant_.ranks; ++rank) {
    if (rank != participant_.self.value()) host_.send(rank_id(rank), about(message_kind::search, participant_.self));
  }
  if (attempts_ > 1) host_.send(participant_.link, about(message_kind::lost, participant_.self));
  due_ = now + settings_.patience * (std::int64_t{1} << std::min(attempts_, doublings_max));
}

}  // namespace nacre::flow
