// SPDX-License-Identifier: Apache-2.0
// The token of a link, as one rank sees it: which rank may send next. Without I/O and without a clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "backplane/flow/flight_times.hpp"
#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// One rank's part in the token protocol of one link (Rosu and Schwan, DVCM, section 4.2).
///
/// | state | has | a message is offered | REQUEST or SEARCH of another | GRANT, newer | tick |
/// |---|---|---|---|---|---|
/// | absent | nothing | REQUEST; waiting | a REQUEST goes on to the suspected holder | holding | - |
/// | waiting | a message | - | a REQUEST is kept; HINT to it | holding; those kept line up | late: SEARCH, then LOST |
/// | holding | the token | the link is free soon: it leaves, holding | in line: HINT to it | - | as below |
///
/// A holder, whenever something has changed:
///
/// | its last message | others wait | own messages | then |
/// |---|---|---|---|
/// | will have left the link later than `early` from now | any | any | keeps the token |
/// | leaves by then, or has left | yes | any | GRANT to the first in line; joins its end, if it has more |
/// | the same | no | yes | sends the next when the link is free and the receiver has room; WANTED, where it has not |
/// | the same | no | no | keeps the token, HINT to the keeper and to the rank it came from |
///
/// Invariants.
/// - A stamp (epoch, pass) is granted to one rank: the holder of (e, p) grants (e, p + 1), and then it holds nothing. A
///   rank takes a grant only above all stamps that it has seen, so copies and late ones are void.
/// - A holder with a message sends it before it grants: a REQUEST that comes just behind the GRANT waits in line.
///   Else two ranks could pass a token to and fro, and neither would send.
/// - The line is first in, first out, and travels with the token.
/// - A REQUEST comes to the token or to a rank that waits for it, in about log(ranks) steps: a rank that passes one on
///   looks for the token at its asker from then on, which will have it soon (Naimi, Trehel and Arnold, 1996).
/// - With a token no more bytes are sent than the receiver has had room for (token_room.hpp), or one message into empty
///   buffers. The room travels with the token: what one holder has used the next one does not have.
/// - A token of an old epoch is dropped as soon as its holder hears of a newer one.
///
/// Three things go beyond the paper. A grant says when the link will be free, so that it may come early and nobody
/// sends too soon; the receiver learns from its time of sending how much slower it was than the fastest one, without a
/// common clock. A grant is acknowledged, which shows how long it takes at least, and is repeated. The keeper replaces
/// a lost token (token_keeper.hpp).
class token_link {
 public:
  struct participant {
    rank_id self, link;
    std::uint32_t ranks;
    std::uint8_t permit = 0;  ///< which token of the link this is
  };
  /// At first the rank at the link's end has the token. `settings`: of one permit. `sizes`: of this rank's messages for
  /// the link, oldest first; the tokens of a link share them. All references outlive this object.
  token_link(const participant& participant, const link_settings& settings, std::deque<std::uint64_t>& sizes,
             flow_host& host);

  /// One message more waits for the link, and for this token.
  void offer(std::uint64_t bytes, nanoseconds now);
  void receive(rank_id source, const message& m, nanoseconds now);
  void tick(nanoseconds now);
  /// When tick is to be called at the latest; max() for never.
  [[nodiscard]] nanoseconds due() const noexcept { return std::min(due_, given_due_); }

  [[nodiscard]] bool holds() const noexcept { return holds_; }
  [[nodiscard]] const token_stamp& seen() const noexcept { return seen_; }
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  /// Requests that nobody had answered in time.
  [[nodiscard]] std::uint64_t retries() const noexcept { return retries_; }
  /// How long a grant takes to its taker: half of the shortest round trip so far; 0 before the first.
  [[nodiscard]] nanoseconds latency() const noexcept { return latency_; }
  /// When the last message asked for the token, and when it came.
  struct wait {
    nanoseconds asked, got;
  };
  [[nodiscard]] const wait& last_wait() const noexcept { return last_wait_; }

  /// For the keeper: the token of this epoch is the one that counts.
  void note_epoch(std::uint32_t epoch, rank_id holder, nanoseconds now);

 private:
  static constexpr nanoseconds never = nanoseconds::max();
  static constexpr int doublings_max = 5;

  void on_request(const message& m, nanoseconds now);
  void on_grant(rank_id source, const message& m, nanoseconds now);
  void on_taken(rank_id source, const message& m, nanoseconds now);
  void on_hint(const message& m, nanoseconds now);
  void on_room(const message& m, nanoseconds now);
  void advance(nanoseconds now);
  void transmit(nanoseconds now);
  [[nodiscard]] bool has_room() const noexcept;
  void want_room(nanoseconds now);
  void pass(nanoseconds now);
  void rest();
  void request(nanoseconds now);
  void ask_again(nanoseconds now);
  void give_again(nanoseconds now);
  [[nodiscard]] bool turn_is_over() const;
  [[nodiscard]] std::uint32_t line_up(rank_id rank);
  void keep(rank_id asker);
  [[nodiscard]] message about(message_kind kind, rank_id whom) const;
  /// By when the token should have come to the one at that place in the line.
  [[nodiscard]] nanoseconds expected_by(std::size_t place, nanoseconds now) const;

  participant participant_;
  const link_settings& settings_;
  flow_host& host_;

  bool holds_;
  token_stamp seen_{1, 0};
  rank_id suspect_;                   // the holder of the token, as far as known
  rank_id came_from_;                 // the rank that granted it
  token_stamp hinted_{1, 0};          // the stamp of the last hint to others
  std::deque<rank_id> line_;          // holding: the ranks that wait
  std::deque<rank_id> kept_;          // waiting: the ranks whose requests have come here
  std::deque<std::uint64_t>& sizes_;  // of own messages
  std::size_t pending_ = 0;           // those of them that wait for this token
  std::uint64_t turn_bytes_ = 0;      // sent since the token came
  nanoseconds free_at_{0};            // holding: when the link is free
  nanoseconds release_at_{0};         // holding: the token may not leave before this time
  std::uint64_t room_ = 0;            // holding: bytes that the receiver has room for
  nanoseconds wanted_due_{0};         // holding: not before this time it is asked for room again
  nanoseconds due_ = never;
  int attempts_ = 0;  // of the present request
  std::uint64_t retries_ = 0;
  struct gift {
    rank_id target;
    message grant;
    nanoseconds time;
    int times;
  };
  std::optional<gift> given_;  // the last grant, until it is acknowledged
  nanoseconds given_due_ = never;
  nanoseconds latency_{0};
  flight_times flights_;  // of grants
  wait last_wait_{};
};

}  // namespace nacre::flow
