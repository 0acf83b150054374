// SPDX-License-Identifier: Apache-2.0
// Exact termination detection by counting waves over a tree of ranks.
#pragma once

#include <cstdint>

#include <nacre/ids.hpp>

#include "quiescence/detector.hpp"

namespace nacre::quiescence {

/// Mattern's four-counter method over a k-ary tree of ranks. Rank 0 is the root.
///
/// A wave goes down the tree (`probe`); each rank adds its counters when it is idle and its children's sums when they
/// have answered, and passes the sums up (`answer`). The root compares `created` of this wave with `done` of the wave
/// before. If they are equal, the system is quiet, and `declared` goes down to the ranks with open requests. So it does
/// while objects are held, when two waves have found equal sums and created - done = lying. Else the next wave starts.
///
/// | event | resting | collecting, own counters missing | collecting, own counters added |
/// |---|---|---|---|
/// | a request here | kick | will be in the answer | note `again` |
/// | probe(w+1) | pass down; collecting | - | - |
/// | own counters | not wanted | add | not wanted |
/// | answer(w) from a child | - | add | add |
/// | kick(w) from a child | kick | note `again` | note `again` |
/// | an older kick from a child | drop | drop | drop |
/// | declared(w), if a request here is open | pass down; tell the host | - | - |
///
/// w is the latest wave that has reached this rank. A dash stands for an illegal message, which is refused. A rank
/// kicks by sending kick(w) to its parent, at most once a wave; the root kicks by starting wave w+1. When the own
/// counters and all answers have been added, the state is resting, and the sums go up with two flags. `asked` says that
/// a request in this subtree is open. `again` says that a request came after its rank's counters had been taken. The
/// root has no parent: it judges the sums itself.
///
/// Invariants. A wave starts when the wave before has come home. No wave runs without a request. A rank sends, for each
/// wave, at most one probe and one declaration to each child, one answer and one kick to its parent.
///
/// Proof that a declaration is never early. Let D be the units counted in the `done` that wave n read, and C those
/// counted in the `created` that wave n+1 read. Every read of wave n happens before every read of wave n+1.
/// 1. D is part of C: a unit is counted as created before it is counted as done. So |D| = |C| means D = C.
/// 2. Suppose that a unit outside of C ever exists. Its line of creators begins with a main or with a unit that a
///    declaration started. These are in C: they were counted before their rank took part in wave n+1 (a declaration
///    arrives before the probe that follows it on the same edge). So some u in C = D created some v outside of C. But v
///    was counted as created before u was counted as done. Wave n has read that u is done, so wave n+1 has read v.
///    Contradiction.
/// So every unit that ever exists is in D, that is, done. No step supposes a common instant: ranks, and threads within
/// a rank, may be read while others run. With a single rank one snapshot is both waves, if `done` is read first.
///
/// Proof for held objects. `created`, `done` and `taken_up` of a rank only grow, so equal sums of two waves mean that
/// each of them is equal on each rank, and has stood still there from its read in wave n to its read in wave n+1.
/// `lying` grows between two steps of taken_up, so it has stood still, too. All these spans contain the moment between
/// the end of wave n and the beginning of wave n+1. At that moment created - done units were open in all, and as many
/// lay: so every open unit lay, none ran and none was under way. Nothing takes up what lies but an arrival or the end
/// of the hold. So nothing runs until that end, but for what comes from outside of the job.
///
/// Proof that it is not late. Once the system is quiet, counters stand still; the first wave that starts after that
/// reads the final `done`, the second the final `created`, which is equal. So at most two waves start, about two round
/// trips of the tree. A request is never lost: it is in the answer of a wave that is still to come here, or in `again`,
/// or in a kick. A kick is dropped only when a later wave is on its way to the kick's sender, or has been there. The
/// answer of that wave says `asked`. So kicks, unlike the other messages, need no order.
///
/// Source: F. Mattern, Algorithms for distributed termination detection, Distributed Computing 2 (1987).
/// UTS-MPI section 3.2.1 has a token ring with counters instead: one message at a time, but as many hops as ranks.
class wave_detector final : public detector {
 public:
  /// All but `self` must be equal on all ranks.
  struct options {
    rank_id self;
    std::uint32_t size = 1;             ///< ranks
    std::uint32_t arity = 4;            ///< most children of a rank in the tree, 1 to arity_max
    std::uint32_t previous_number = 0;  ///< the number before the first wave, on all ranks
  };
  static constexpr std::uint32_t arity_max = 16;

  explicit wave_detector(const options& tree);

  std::uint64_t request(detector_host& host) override;
  [[nodiscard]] bool on_message(detector_host& host, rank_id source, const detector_message& m) override;
  [[nodiscard]] bool wants_counters() const noexcept override { return collecting_ && !counted_; }
  [[nodiscard]] bool still() const noexcept override { return still_; }
  void forget_still() noexcept override { still_ = false; }
  void on_idle(detector_host& host, const unit_counters& now) override;

  /// The number of waves that this rank has seen, or that the root has started, modulo 2^32.
  [[nodiscard]] std::uint32_t waves() const noexcept { return wave_; }

 private:
  using child_set = std::uint32_t;  // bit i: the i-th child

  [[nodiscard]] bool is_root() const noexcept { return self_.value() == 0; }
  [[nodiscard]] rank_id parent() const noexcept { return rank_id{(self_.value() - 1) / arity_}; }
  [[nodiscard]] rank_id child(std::uint32_t index) const noexcept {
    return rank_id{self_.value() * arity_ + 1 + index};
  }
  [[nodiscard]] child_set bit_of(rank_id source) const noexcept;

  [[nodiscard]] bool on_probe(detector_host& host, rank_id source, std::uint32_t wave);
  [[nodiscard]] bool on_answer(detector_host& host, child_set set, const detector_message& m);
  [[nodiscard]] bool on_kick(detector_host& host, child_set set, std::uint32_t wave);
  [[nodiscard]] bool on_declared(detector_host& host, rank_id source, std::uint32_t wave);

  void start_wave(detector_host& host, std::uint32_t wave);
  void send_kick(detector_host& host);
  void finish_if_complete(detector_host& host);
  void judge(detector_host& host);
  void spread_declaration(detector_host& host);
  void send_to(detector_host& host, child_set children, std::uint16_t kind);

  const rank_id self_;
  const std::uint32_t size_;
  const std::uint32_t arity_;
  child_set children_ = 0;

  std::uint32_t wave_;  // the latest wave that reached this rank; options::previous_number: none has
  bool collecting_ = false;
  bool counted_ = false;   // own counters are in sums_
  bool again_ = false;     // a request of this subtree came too late for its rank's counters
  bool kicked_ = false;    // a kick was sent since wave_
  child_set missing_ = 0;  // children that have not answered wave_
  child_set asked_ = 0;    // children with an open request in their subtree
  unit_counters sums_;
  unit_counters sums_before_;  // root: the sums of the wave before
  bool still_ = false;         // root: the last wave found these again, and no quiescence

  std::uint64_t issued_ = 0;    // requests made here
  std::uint64_t covered_ = 0;   // the part of issued_ that was made before the own counters were taken
  std::uint64_t declared_ = 0;  // the part of issued_ to which quiescence has been declared
};

}  // namespace nacre::quiescence
