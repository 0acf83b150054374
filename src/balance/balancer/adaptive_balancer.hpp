// SPDX-License-Identifier: Apache-2.0
// The default balancer: lifelines, until objects are seen to step; then plans, as long as more work is done by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/backoff.hpp"
#include "balance/balancer/lifeline_balancer.hpp"
#include "balance/balancer/refine_plan.hpp"

namespace nacre::balance {

struct step_message;
struct wire_object;

/// Balances by lifelines, and looks whether the program *steps*: the same objects work again and again, several on each
/// worker. Then what an object has worked says what it will work (the principle of persistence of Charm++'s balancers),
/// which what waits for it does not. So rank 0 plans for all ranks (refine_plan.hpp), placing objects near their
/// partners, and nobody steals.
///
/// Invariants. While no rank sees objects that step, ranks send the messages of lifeline_balancer and no others. Plans
/// are kept up only while handlers do more work a second under them than they did before, under lifelines, at first by
/// more than a window can err; else ranks steal again, and the next trial is twice as far away. One window is open at
/// a time.
///
/// | rank 0 | half of the ranks say `steps` | window over | all `report`s are there | pause over |
/// |---|---|---|---|---|
/// | waiting | `look` to all; collecting what lifelines reach | - | - | - |
/// | open | - | `look` to all; collecting | - | - |
/// | collecting, ranks steal | - | - | handlers hardly work: waiting. Else `begin` to all; open | - |
/// | collecting, ranks plan | - | - | not worth it: `steal` to all; waiting. Else `moves`; pausing | - |
/// | pausing | - | - | - | `begin` to all; open |
///
/// | a rank | `begin` | `look` | `moves` | `steal` | its objects step |
/// |---|---|---|---|---|---|
/// | stealing | count what objects do; planning | `report` | - | - | `steps` to rank 0, ever more rarely |
/// | planning | count what objects do | `report` | move | stealing | - |
///
/// A rank that plans answers the messages of lifelines, and sends none of its own accord unless it starves: what has no
/// work for half a window steals.
class adaptive_balancer final : public balancer {
 public:
  /// Times in seconds; balance_options() explains them.
  struct options {
    lifeline_balancer::options lifelines;
    backoff interval{1e-3, 20e-3};
    double tolerance = 0.05;
    std::uint32_t objects_max = 256;
  };

  explicit adaptive_balancer(const options& parameters)
      : parameters_(parameters), lifelines_(parameters.lifelines), pause_(parameters.interval) {}

  void on_tick(balancer_host& host) override;
  void on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool wanted() const override { return lifelines_.wanted(); }
  [[nodiscard]] bool observes_loads() const override { return false; }
  [[nodiscard]] bool observes_work() const override { return true; }
  [[nodiscard]] bool rests() const override {
    return phase_ == phase::waiting && (!planning_ || starving_) && lifelines_.rests();
  }

 private:
  /// Of rank 0; other ranks stay in `waiting`.
  enum class phase : std::uint8_t { waiting, open, collecting, pausing };

  void steal_if_starving(balancer_host& host);
  void begin_planning(balancer_host& host, std::uint32_t number, double length, bool counts_traffic);
  void look_for_steps(balancer_host& host);
  void begin_window(balancer_host& host, bool counts_traffic = false);
  void forget_steppers(double bound);
  void note_steps(balancer_host& host, rank_id source, double seconds);
  void coordinate(balancer_host& host);
  void open_window(balancer_host& host);
  void close_window(balancer_host& host);
  void note(balancer_host& host, rank_id source, const step_message& m);
  void decide(balancer_host& host);
  void begin_trial(balancer_host& host);
  [[nodiscard]] bool is_worth_it(double rate);
  void fit_window();
  [[nodiscard]] double uncertainty() const;
  void plan(balancer_host& host);
  void give_up(balancer_host& host);
  [[nodiscard]] step_message own_report(balancer_host& host) const;
  void apply_moves(balancer_host& host, const std::vector<wire_object>& moves);

  const options parameters_;
  lifeline_balancer lifelines_;
  bool planning_ = false;
  bool starving_ = false;  // while planning: there has been no work for long
  double busy_at_ = 0;     // when there was some
  double worked_ = 0;      // seconds of its handlers in the window, at the last tick
  double length_ = 0;      // of the window

  // Whether objects of this rank step, and when to look next.
  bool was_said_ = false;         // the rank has reported `steps`; it looks again at look_at_
  double said_rate_ = 0;          // handler seconds a second, as measured when `steps` was reported
  double look_at_ = 0;            // time of the next look
  std::uint64_t next_steps_ = 0;  // number of steps from which the next look judges
  double patience_ = 0;           // seconds until the next look, after `steps` was reported

  // The coordinator's half.
  phase phase_ = phase::waiting;
  std::uint32_t number_ = 0;  // of the latest window
  double next_at_ = 0;        // when the phase ends, where that is a matter of time
  double window_ = 0;         // its length
  backoff pause_;
  bool moved_ = false;  // by the last plan
  struct stepper {
    rank_id rank;
    double time;     // when it said so
    double seconds;  // of its window
  };
  std::deque<stepper> steppers_;  // ranks that have said lately that they step, each once, in the order of time
  std::vector<bool> said_;        // by rank: it is among them
  std::vector<refine_report> reports_;
  std::vector<bool> reported_;
  std::uint32_t missing_ = 0;
  double rate_ = 0;  // seconds of handlers a second, of all `steps` or `report`s so far
  double objects_ = 0, steps_ = 0;
  double rate_of_lifelines_ = 0, rate_of_plans_ = 0;
  std::uint32_t windows_ = 0;  // number of windows since the ranks left lifelines for plans
  double trial_at_ = 0;        // earliest time of the next trial of plans
  double trial_pause_ = 0;
};

[[nodiscard]] std::unique_ptr<balancer> make_adaptive_balancer(const config& configuration);

}  // namespace nacre::balance
