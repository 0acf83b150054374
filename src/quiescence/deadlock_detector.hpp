// SPDX-License-Identifier: Apache-2.0
// Slow waves that find out whether a job stands still, without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <nacre/ids.hpp>

#include "quiescence/deadlock_report.hpp"
#include "quiescence/detector.hpp"

namespace nacre::quiescence {

/// One rank's part. Rank 0 is the root of the same tree as the wave_detector's.
///
/// | event | resting | looking | gathering |
/// |---|---|---|---|
/// | probe(w) of the parent, w is new | looking | refused | refused |
/// | a look: this rank is at rest | - | probe(w) to the children; gathering, or answer and resting | - |
/// | a look: it is not | - | answer "not still"; resting | - |
/// | answer(w) of a child | refused | refused | add; after the last one answer and resting |
///
/// Instead of a probe, rank 0 has the clock: it looks when a quarter of the patience has passed, if it is at rest, and
/// begins a wave if it is still. Instead of an answer, it judges. Ranks below one that is not at rest are not asked.
///
/// A rank is *still* when it is at rest and at its look before was at rest, with the same counters. These only grow, so
/// it has begun and ended nothing between the two looks.
///
/// Invariant. If a wave w comes home still, nothing was begun or ended on any rank from `quiet_from_`, the moment when
/// the wave before came home (or rank 0 looked in vain later), to the beginning of w: each rank has looked before
/// `quiet_from_`, because a rank without an earlier look is not still, and looks again after w has begun. A rank that a
/// wave did not reach, since one above it was not at rest, has looked at some earlier wave, which makes the time
/// longer.
///
/// Hence the rule. Rank 0 tells when a wave comes home still that began `patience` after `quiet_from_` of the first of
/// an unbroken row of such waves, while units are open. It tells once; a wave that is not still ends the row.
///
/// A rank that computes and leaves nobody to poll does not answer; the wave waits, and nothing is told.
class deadlock_detector {
 public:
  /// Where its outputs go, and what it asks. Must not call the detector.
  class host {
   public:
    virtual void send_probe(rank_id child, std::uint32_t wave, bool names) = 0;
    virtual void send_answer(rank_id parent, std::uint32_t wave, deadlock_report sums) = 0;
    /// What this rank has to tell when names are asked for. `still` and `units` are the detector's.
    virtual deadlock_report report_of_rank() = 0;
    virtual std::chrono::nanoseconds now() = 0;
    /// Rank 0: the job has stood still for so long.
    virtual void tell(const deadlock_report& all, std::chrono::nanoseconds lasted) = 0;
    /// Rank 0: it no longer does, and that has been told.
    virtual void tell_going_on(std::chrono::nanoseconds lasted) = 0;

   protected:
    ~host() = default;
  };
  struct options {
    rank_id self;
    std::uint32_t size = 1;
    std::chrono::nanoseconds patience{0};  ///< rank 0; more than nothing
    std::chrono::nanoseconds started{0};   ///< rank 0: on its clock
    std::uint32_t arity = 4;
  };
  /// What a rank sees of itself inside its poll loop.
  struct snapshot {
    bool at_rest = false;  ///< main waits, no worker has work, and nothing of this rank is under way
    unit_counters units;
    std::uint64_t readied = 0;  ///< pieces of work that have been ready
    friend bool operator==(const snapshot&, const snapshot&) = default;
  };

  explicit deadlock_detector(const options& how);

  /// False: a message that `from` may not send now; nothing has changed.
  [[nodiscard]] bool on_probe(rank_id from, std::uint32_t wave, bool names);
  [[nodiscard]] bool on_answer(host& to, rank_id from, std::uint32_t wave, const deadlock_report& sums);

  /// A probe waits for this rank's look.
  [[nodiscard]] bool wants_look() const noexcept { return looking_; }
  /// Rank 0 looks when it is at rest at this time or later; max() while a wave is under way.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept {
    return collecting_ ? std::chrono::nanoseconds::max() : due_;
  }
  /// The rank looks: wants_look(), or it is rank 0 and due() has come.
  void on_look(host& to, const snapshot& now);

 private:
  using child_set = std::uint32_t;  // bit i: the i-th child

  [[nodiscard]] bool is_root() const noexcept { return self_.value() == 0; }
  [[nodiscard]] rank_id parent() const noexcept { return rank_id{(self_.value() - 1) / arity_}; }
  void put_off(host& to);
  void begin(host& to, bool still);
  void finish(host& to);
  void judge(host& to);
  void end_row(host& to);

  const rank_id self_;
  const std::uint32_t size_;
  const std::uint32_t arity_;
  const std::chrono::nanoseconds patience_;
  std::uint32_t children_count_ = 0;

  std::uint32_t wave_ = 0;  // the latest that has reached this rank
  bool names_ = false;      // it asks for names
  bool looking_ = false;
  bool collecting_ = false;
  child_set missing_ = 0;  // children that have not answered
  std::optional<snapshot> last_look_;
  deadlock_report sums_;

  // Rank 0.
  std::chrono::nanoseconds due_;
  std::chrono::nanoseconds began_{0};  // the wave
  std::chrono::nanoseconds quiet_from_{0};
  std::optional<std::chrono::nanoseconds> since_;  // the job has stood still; absent: not known to
  bool told_ = false;
};

}  // namespace nacre::quiescence
