// SPDX-License-Identifier: Apache-2.0
// The transitions of the token ring.
#include <nacre/token_ring.hpp>

#include <utility>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

using colour = ring_token::colour;

}  // namespace

token_ring::token_ring(rank_id self, std::uint32_t size) : self_(self.value()), size_(size) {
  NACRE_EXPECT(self_ < size_, "a rank's number is below the number of ranks");
  if (self_ == 0) held_ = ring_token{{}, colour::black};  // nothing is known yet
}

bool token_ring::on_token(rank_id source, const ring_token& token) {
  const bool of_working = token.shade == colour::white || token.shade == colour::black;
  const bool expected = self_ == 0 ? (stage_ == stage::working && of_working && rounds_ > 0) ||
                                         (stage_ == stage::fencing && token.shade == colour::pink)
                                   : (stage_ == stage::working && (of_working || token.shade == colour::pink)) ||
                                         (stage_ == stage::fencing && !of_working);
  const bool known = token.shade <= colour::red;
  if (source.value() != (self_ + size_ - 1) % size_ || size_ == 1 || held_ || !known || !expected) return false;
  held_ = token;
  if (token.shade == colour::pink) stage_ = stage::fencing;
  if (token.shade == colour::red) stage_ = stage::ended;
  return true;
}

std::optional<ring_token> token_ring::on_idle(message_counters work, message_counters control) {
  if (!held_) return std::nullopt;
  if (size_ == 1) {  // the token stays while messages of the rank to itself are under way
    if (stage_ == stage::working && work.sent == work.received) stage_ = stage::fencing;
    if (stage_ == stage::fencing && control.sent == control.received) stage_ = stage::ended;
    if (stage_ == stage::ended) held_.reset();
    return std::nullopt;
  }
  ring_token token = *std::exchange(held_, std::nullopt);
  const bool clean = received_before_ == work.received;
  received_before_ = work.received;
  if (token.shade == colour::white && !clean) token.shade = colour::black;
  if (self_ != 0) {
    const message_counters& counters = stage_ == stage::working ? work : control;
    token.sum.sent += counters.sent;
    token.sum.received += counters.received;
    if (token.shade == colour::red && self_ + 1 == size_) return std::nullopt;
    return token;
  }
  // The token is home: judge the round, and begin the next. Rank 0's own counters were taken when the round began.
  const bool balanced = token.sum.sent == token.sum.received;
  if (stage_ == stage::working && token.shade == colour::white && balanced) {
    stage_ = stage::fencing;
  } else if (stage_ == stage::fencing && balanced) {
    stage_ = stage::ended;
  }
  return begin_round(work, control);
}

std::optional<ring_token> token_ring::begin_round(message_counters work, message_counters control) {
  if (stage_ == stage::ended) return ring_token{{}, colour::red};
  ++rounds_;
  return stage_ == stage::working ? ring_token{work, colour::white} : ring_token{control, colour::pink};
}

}  // namespace nacre
