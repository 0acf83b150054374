// SPDX-License-Identifier: Apache-2.0
// Collectives over a tree of ranks, without I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nacre/collectives.hpp>
#include <nacre/ids.hpp>

#include "am/rank_tree.hpp"

namespace nacre {

/// Archives check with this a kind that a peer has sent.
[[nodiscard]] constexpr bool wire_valid(collective_kind kind) noexcept { return kind <= collective_kind::end_of_main; }

/// A message along an edge of the tree.
struct collective_message {
  std::uint32_t number = 0;
  std::uint32_t root = 0;
  std::uint32_t type = 0;
  collective_kind kind = collective_kind::barrier;
  bool result = false;  ///< down the tree; else a contribution, up
  std::vector<std::byte> value;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, root, type, kind, result, value);
  }
};

/// The n-th collectives of two ranks differ: an error of the program.
struct collective_mismatch {
  struct entry {
    rank_id rank;
    collective_kind kind;
    rank_id root;
    std::uint32_t type = 0;
  };
  std::uint32_t number;
  entry one;
  entry other;
};

/// One line for the programmer.
[[nodiscard]] std::string describe(const collective_mismatch& collective_mismatch);

/// The engine calls these functions. Only `complete` may call the engine, which may start the next collective.
class collective_host {
 public:
  /// Sends to another rank, reliably; order does not matter.
  virtual void send(rank_id target, collective_message m) = 0;
  /// The collective of that number is over here. `value` is the result for this rank. For broadcast, the root's value;
  /// for a reduction or a scan, packed as contributions are; for gathers, see detail::parts_of. Empty for a barrier,
  /// where another rank is the root, and for rank 0 in an exclusive scan.
  virtual void complete(std::uint32_t number, std::vector<std::byte> value) = 0;
  /// The program is wrong and the collective will never end. The engine ignores all messages from then on.
  virtual void mismatch(const collective_mismatch& collective_mismatch) = 0;

 protected:
  ~collective_host() = default;
};

/// The collectives of one rank. All ranks enter the same ones in the same order; the n-th entry of each belongs
/// together.
///
/// Each collective is a pass up a k-ary tree with rank 0 as its root, and a pass down that tree. Subtrees are runs of
/// consecutive ranks: the subtree's root comes first, the rest of the run is shared out evenly among its children.
///
/// | kind | up: for the subtree | down: to a child | result |
/// |---|---|---|---|
/// | barrier | - | - | - |
/// | broadcast | the value, if the root is in it | the value | the value |
/// | reduce, all_reduce | the combination | it; reduce: on the root's way only | it |
/// | gather, all_gather | the values behind each other | them; gather: on the root's way only | them |
/// | scans | the combination | the combination of all ranks before the child | it; scan: and the own value |
///
/// | a number's state | start | contribution of a child | result of the parent |
/// |---|---|---|---|
/// | awaited | take the call; waiting | keep | - |
/// | waiting | - | keep; all there: combine, pass up; contributed. Rank 0: pass down; over | - |
/// | contributed | - | - | pass down; over |
/// | over | - | - | - |
///
/// A dash: no legal input, refused.
///
/// Every mismatch of kind, root or type is seen. Choose a lowest rank whose subtree contains different calls. Its
/// children's subtrees are uniform, so all of them contribute to it, and it compares. This is why the tree is not
/// rotated to the root of a broadcast, which would save the value its way up, a quarter of the time at arity 4: ranks
/// that believe in different roots would wait for each other's contributions in silence.
///
/// Invariants. No rank leaves a collective before all have entered it. So a rank with at most `outstanding_max` open
/// ones is at most that far ahead of any other, and contributions that arrive before its local call are bounded by
/// outstanding_max * arity. Own value first, then the children's: that is the order of the ranks,
/// and the grouping depends on size and arity alone, so floating-point sums are the same in every run. A rank sends one
/// message up and one to each child; the depth is logarithmic.
/// Threads: one at a time, all calls.
class collective_engine {
 public:
  /// Alike on all ranks, but for `self`.
  struct options {
    rank_id self;
    std::uint32_t size = 1;                   ///< ranks
    std::uint32_t arity = tree_children_max;  ///< children of a rank in the tree at most, 1 to arity_max
    std::uint32_t first = 0;                  ///< the number of the first collective
  };
  static constexpr std::uint32_t arity_max = 16;
  static constexpr std::uint32_t outstanding_max = 8;

  explicit collective_engine(const options& tree);

  /// Enters the next collective and returns its number: options::first and on, modulo 2^32. `complete` tells of its
  /// end, perhaps before this returns. Aborts when outstanding_max are open: ask outstanding() first.
  std::uint32_t start(collective_host& host, collective_call call);

  /// Takes a message of another rank's engine. False: `source` may not send this now; it was ignored.
  [[nodiscard]] bool on_message(collective_host& host, rank_id source, collective_message m);

  /// Collectives that this rank has entered and not left.
  [[nodiscard]] std::uint32_t outstanding() const noexcept { return outstanding_; }
  /// The number that the next start will return.
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }

 private:
  enum class state : std::uint8_t { awaited, waiting, contributed, over };

  struct slot {
    state now = state::awaited;
    collective_mismatch::entry first{};  // the first entry known, own or not; valid once something is known
    bool known = false;
    std::uint32_t arrived = 0;                          // bit i: the contribution of child i is there
    std::vector<std::vector<std::byte>> contributions;  // by child
    collective_call call;
    std::vector<std::byte> prefix;  // scans: the combination of all ranks before this one
  };

  [[nodiscard]] slot* find(std::uint32_t number);
  [[nodiscard]] bool agrees(collective_host& host, std::uint32_t number, slot& slot,
                            const collective_mismatch::entry& entered);
  [[nodiscard]] bool take_contribution(collective_host& host, rank_id source, collective_message& m);
  [[nodiscard]] bool take_result(collective_host& host, rank_id source, collective_message& m);
  void advance(collective_host& host, std::uint32_t number, slot& slot);
  void finish(collective_host& host, std::uint32_t number, slot& slot);

  void pass_down(collective_host& host, collective_message m, const slot& slot);
  [[nodiscard]] std::vector<std::byte> pass_down_scan(collective_host& host, collective_message m, slot& slot);

  const rank_id self_;
  const std::uint32_t size_;
  rank_id parent_;                  // of all ranks but 0
  std::vector<rank_run> children_;  // by rank
  std::uint32_t first_;             // the number of slots_.front()
  std::uint32_t next_;              // the number of the next local call
  std::uint32_t outstanding_ = 0;
  bool failed_ = false;
  std::deque<slot> slots_;
};

}  // namespace nacre
