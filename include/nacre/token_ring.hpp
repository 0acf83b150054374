// SPDX-License-Identifier: Apache-2.0
// Termination detection for a program's own protocol, by a coloured token that goes round all ranks.
#pragma once

#include <cstdint>
#include <optional>

#include <nacre/ids.hpp>

namespace nacre {

/// The numbers of messages of one kind that a rank has sent and received since the beginning. Both only grow.
struct message_counters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  friend bool operator==(const message_counters&, const message_counters&) = default;
};

/// The token. It is packed as its bytes.
struct ring_token {
  /// The colours of a token; see token_ring.
  enum class colour : std::uint64_t { white, black, pink, red };
  message_counters sum;  ///< over the ranks that it has passed in this round
  colour shade = colour::white;
  friend bool operator==(const ring_token&, const ring_token&) = default;
};

/// One rank's part in detecting that the work of all ranks is done, and then that all their messages have arrived. It
/// is for protocols in which a rank without work keeps asking others for some. The runtime never sees such a protocol
/// as quiet (runtime::wait_quiescence), because the requests are messages too.
///
/// Without I/O and without a clock; not thread-safe. The program carries the token from rank to rank. There are two
/// kinds of messages: messages that bring work, and control messages, such as a request for work or its refusal. The
/// program must keep these rules, on which the proofs in docs/protocols/quiescence.md rest:
/// 1. Only a rank that has work sends work. A rank without work gets some only by a message that brings it.
/// 2. A control message is a request or its answer. Once over() returns fencing, the rank sends no more requests.
///    A request that is counted as received has been answered, and its answer counted as sent, when on_idle is called.
/// 3. A message is counted as sent before it can arrive, and as received when its contents have been taken over.
///    The token itself is not counted. Messages may overtake each other and the token in any way.
///
/// Rank 0 sends the token round repeatedly, and each rank passes it on when it has no work. White means that no rank
/// has received work since the token was there last; black means that some rank has. When a white token finds as much
/// work received as sent, the work is done. Pink tokens follow (fencing) until one finds as many control messages
/// received as sent. Then a red token (ended) tells all ranks.
/// Source: UTS-MPI, sections 3.2.1 and 3.2.2, after Dijkstra. The rule that makes a rank black is Safra's. By the rule
/// of the paper (the rank gave work to a rank that the token reaches earlier), two messages that are under way for long
/// can conceal each other.
class token_ring {
 public:
  /// How far a rank knows the end to be: work goes on, only control messages are left, all ranks know.
  enum class stage { working, fencing, ended };

  token_ring(rank_id self, std::uint32_t size);

  /// Takes the token from another rank. Returns false, without any change, when `source` may not send it now.
  [[nodiscard]] bool on_token(rank_id source, const ring_token& token);

  /// Whether the token waits here to be passed on; at rank 0 it is also evaluated.
  [[nodiscard]] bool holds_token() const noexcept { return held_.has_value(); }

  /// To be called when the token is held and the rank has no work. Returns the token to send to next(), if any.
  [[nodiscard]] std::optional<ring_token> on_idle(message_counters work, message_counters control);

  [[nodiscard]] stage over() const noexcept { return stage_; }
  [[nodiscard]] rank_id next() const noexcept { return rank_id{(self_ + 1) % size_}; }
  /// Rounds that rank 0 has begun, the red one not included; 0 elsewhere.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  [[nodiscard]] std::optional<ring_token> begin_round(message_counters work, message_counters control);

  const std::uint32_t self_;
  const std::uint32_t size_;
  stage stage_ = stage::working;
  std::optional<ring_token> held_;
  std::optional<std::uint64_t> received_before_;  // work, when the token was here last
  std::uint64_t rounds_ = 0;
};

}  // namespace nacre
