// SPDX-License-Identifier: Apache-2.0
// The send windows of an object with a backlog: one for each source that has messages waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre {

/// Sequence numbers wrap; two that are compared are less than 2^31 apart.
[[nodiscard]] constexpr bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

/// The object's side of docs/protocols/backlog.md. Travels with the object, and belongs to its activation.
///
/// For each source: `next`, the number that its stream expects; `limit`, the number up to which the source has been
/// cleared to send since its last request; `end`, the number up to which it has asked to be cleared.
///
/// | state | the source asks | a message is admitted | there is room |
/// |---|---|---|---|
/// | unknown | asks | - | - |
/// | asks: limit < end | limit falls to next, or below end; end rises | next rises | limit rises; clear to send |
/// | cleared: next < limit = end | asks: limit falls, end rises | next rises; in the end unknown | - |
///
/// When messages go back, next falls, and limit with it. A source asks until it is cleared up to `end`, even when all
/// messages before `end` have come meanwhile: it keeps its later messages until it hears of that.
///
/// Invariant: all numbers before the limit are cleared at their source, or the clearance is under way. A limit rises
/// only when a clearance is sent. It falls at each request, because the request may come from a new queue, which knows
/// of no earlier clearance. A queue remembers the clearances that come after its first request until it is over.
///
/// Room: the messages that are cleared and have not arrived, and those that have arrived and not run, are at most the
/// window: as many as the object has run during this stay, or during the last one if that is more. So an object that
/// runs little between two moves has little to take along. When a source asks again, the object lowers its limit and
/// forgets clearances that are under way. It grants these messages a second time, so that the window may be exceeded.
class source_windows {
 public:
  static constexpr std::uint32_t window_min = 8;
  static constexpr std::uint32_t window_max = 4096;

  struct grant {
    rank_id target;
    std::uint32_t limit;  ///< messages before that number are cleared
    friend bool operator==(const grant&, const grant&) = default;
  };

  /// Notes a request: messages of that rank wait there, and none has number `end` yet.
  void on_request(std::uint32_t rank, std::uint32_t end, std::uint32_t next);
  /// Notes that the stream of that rank expects `next` now: more than before, or less when messages have gone back.
  void on_next(std::uint32_t rank, std::uint32_t next);
  /// Returns the sources that are cleared to send now, given how many messages wait at the object and how many have run
  /// in this stay. Serves sources round-robin, without those that are blocked (`is_blocked`).
  [[nodiscard]] std::vector<grant> clear(std::size_t waiting, std::uint32_t ran,
                                         const std::function<bool(std::uint32_t)>& is_blocked);
  /// Notes that the object leaves, after that many messages.
  void on_departure(std::uint32_t ran) noexcept { ran_before_ = ran; }

  [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
  /// The number of messages cleared and not admitted yet.
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::uint32_t window(std::uint32_t ran) const noexcept;
  /// Whether the windows, read from a peer, are valid in a job of that many ranks. Must be called before the first use.
  [[nodiscard]] bool sound(std::uint32_t ranks);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(sources_, next_source_, ran_before_);
  }

 private:
  struct source {
    std::uint32_t rank = 0;
    std::uint32_t next = 0;
    std::uint32_t limit = 0;
    std::uint32_t end = 0;
    [[nodiscard]] bool asks() const noexcept { return is_before(limit, end); }
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return is_before(next, limit) ? limit - next : 0; }
    template <class Archive>
    void serialize(Archive& ar) {
      ar(rank, next, limit, end);
    }
  };
  [[nodiscard]] std::vector<source>::iterator find(std::uint32_t rank);
  void count_in(const source& one) noexcept;
  void count_out(const source& one) noexcept;

  std::vector<source> sources_;    // by rank; with messages to come
  std::uint32_t next_source_ = 0;  // position of the source that comes next
  std::uint32_t ran_before_ = 0;   // in the last stay
  std::uint32_t asking_ = 0;       // sources that ask
  std::uint32_t in_flight_ = 0;    // of all sources
};

}  // namespace nacre
