// SPDX-License-Identifier: Apache-2.0
// Detects a deadlock of a job by slow waves over its ranks, without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <nacre/ids.hpp>

#include "quiescence/deadlock_report.hpp"
#include "quiescence/detector.hpp"

namespace nacre::quiescence {

/// One rank's part of the detection. The waves use the tree of wave_detector. Rank 0 is the root.
///
/// | event | resting | looking | collecting |
/// |---|---|---|---|
/// | probe(w) from the parent, w is new | looking | refused | refused |
/// | a look: this rank is at rest | - | probe(w) to the children; collecting, or answer and resting | - |
/// | a look: this rank is not at rest | - | answer "not still"; resting | - |
/// | answer(w) from a child | refused | refused | add; after the last one answer and resting |
///
/// Rank 0 has the clock instead of a probe: it looks when a quarter of the patience has passed, if it is at rest, and
/// begins a wave if it is still. It judges the sums instead of sending an answer. A rank that is not at rest does not
/// probe the ranks below it.
///
/// A rank is *still* when it is at rest now and was at rest at its look before, with equal counters. The counters only
/// grow, so the rank has begun and ended nothing between the two looks: what runs now ran then.
///
/// Invariant. If a wave w comes home still, no rank has begun or ended anything from `quiet_from_` to the beginning of
/// w. `quiet_from_` is the moment when the wave before came home, or when a later look of rank 0 found it not still.
/// Why it holds: each rank has looked before `quiet_from_`, because a rank without an earlier look is not still, and it
/// looks again after w has begun. A wave may have missed a rank, because a rank above it was not at rest. The missed
/// rank has looked at an earlier wave, so the time between its two looks is longer still.
///
/// Rule. Take an unbroken row of waves that come home still while units are open, or while a main that waits has asked
/// for a message, and `quiet_from_` of the first. Rank
/// 0 reports a deadlock when a wave of the row comes home that began `patience` or more after that moment. It reports
/// once. A wave that is not still ends the row. Where something runs, the report is that the job waits for it. There is
/// none while nothing waits: no main, and no unit beside those that run.
///
/// An object's end may wait for a coroutine that waits for a message. A rank that has such a coroutine makes rank 0
/// `hurry`, that is, look within milliseconds, and less and less often while the job goes on. When a wave comes home
/// still in which some rank has one and nothing runs, rank 0 reports nothing, but lets all of them give up.
///
/// A rank of which all threads compute, with none left to poll, does not answer. The wave waits, and nothing is
/// reported.
class deadlock_detector {
 public:
  /// Takes the detector's outputs and answers its questions. Must not call the detector.
  class host {
   public:
    virtual void send_probe(rank_id child, std::uint32_t wave, bool names) = 0;
    virtual void send_answer(rank_id parent, std::uint32_t wave, deadlock_report sums) = 0;
    /// The report of this rank, for a wave that asks for names. The detector sets `still` and `units` itself.
    virtual deadlock_report report_of_rank() = 0;
    virtual std::chrono::nanoseconds now() = 0;
    /// Rank 0: the job has been deadlocked, or has waited for what runs, for `lasted`.
    virtual void tell(const deadlock_report& all, std::chrono::nanoseconds lasted) = 0;
    /// Rank 0: nothing happens any more, and some rank has what gives up then.
    virtual void give_up_waits() = 0;
    /// Rank 0: a deadlock that was reported has ended after `lasted`.
    virtual void tell_going_on(std::chrono::nanoseconds lasted) = 0;

   protected:
    ~host() = default;
  };
  struct options {
    rank_id self;
    std::uint32_t size = 1;
    std::chrono::nanoseconds patience{0};  ///< rank 0: 0 reports nothing
    std::chrono::nanoseconds started{0};   ///< rank 0: start of the job, on its clock
    std::uint32_t arity = 4;
    std::uint32_t previous_number = 0;  ///< the number before the first wave, on all ranks
  };
  /// The state of a rank as its poll loop sees it.
  struct snapshot {
    /// Nothing of this rank is under way, and main waits and no worker has work, but for `running` of them.
    bool at_rest = false;
    unit_counters units;
    std::uint64_t running = 0;  ///< main, if it computes, and workers that run something
    std::uint64_t waiting = 0;  ///< main, if it waits
    std::uint64_t begun = 0;    ///< pieces of work that have become ready, and that have begun
    std::uint64_t held_up = 0;  ///< coroutines that give up to wait when nothing happens any more
    std::uint64_t asked = 0;    ///< messages that main has asked for and that have not come
    friend bool operator==(const snapshot&, const snapshot&) = default;
  };

  explicit deadlock_detector(const options& options);

  /// Both return false, and change nothing, for a message that `source` may not send now.
  [[nodiscard]] bool on_probe(rank_id source, std::uint32_t wave, bool names);
  [[nodiscard]] bool on_answer(host& host, rank_id source, std::uint32_t wave, const deadlock_report& sums);

  /// Whether a probe waits for this rank's look.
  [[nodiscard]] bool wants_look() const noexcept { return looking_; }
  /// Rank 0: some rank has a coroutine that gives up when the job is still.
  void hurry(std::chrono::nanoseconds now);
  /// The time from which rank 0 looks as soon as it is at rest; max() while a wave is under way, or it need not look.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept {
    return collecting_ || (patience_.count() == 0 && pause_.count() == 0) ? std::chrono::nanoseconds::max() : due_;
  }
  /// To be called when wants_look(), or on rank 0 when due() has come.
  void on_look(host& host, const snapshot& now);

 private:
  using child_set = std::uint32_t;  // bit i: the i-th child

  [[nodiscard]] bool is_root() const noexcept { return self_.value() == 0; }
  [[nodiscard]] rank_id parent() const noexcept { return rank_id{(self_.value() - 1) / arity_}; }
  void put_off(host& host);
  void begin(host& host, bool still);
  void finish(host& host);
  void judge(host& host);
  void plan_next_wave(std::chrono::nanoseconds now);
  void end_row(host& host);
  void look_later(std::chrono::nanoseconds now);

  const rank_id self_;
  const std::uint32_t size_;
  const std::uint32_t arity_;
  const std::chrono::nanoseconds patience_;
  std::uint32_t children_count_ = 0;

  std::uint32_t wave_;  // the latest wave that has reached this rank
  bool names_ = false;  // the wave asks for names
  bool looking_ = false;
  bool collecting_ = false;
  child_set missing_ = 0;  // children that have not answered
  std::optional<snapshot> last_look_;
  deadlock_report sums_;

  // Rank 0.
  std::chrono::nanoseconds due_;
  std::chrono::nanoseconds began_{0};  // begin of the wave under way
  std::chrono::nanoseconds quiet_from_{0};
  std::optional<std::chrono::nanoseconds> since_;  // quiet_from_ of the first wave of the row; absent: there is no row
  bool told_ = false;
  std::chrono::nanoseconds pause_{0};  // until the next look in a hurry; 0: there is none
};

}  // namespace nacre::quiescence
