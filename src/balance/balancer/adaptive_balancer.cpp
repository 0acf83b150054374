// SPDX-License-Identifier: Apache-2.0
// Sees objects that step, opens windows, plans and compares; the header has the states and invariants.
#include "balance/balancer/adaptive_balancer.hpp"

#include <algorithm>
#include <utility>

#include <nacre/archive.hpp>

#include "balance/balancer/refine_wire.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {
namespace {

// Kinds of its own: the first byte of each message tells it from those of lifelines.
enum class step_kind : std::uint8_t { steps = 64, begin, look, report, moves, steal };
[[nodiscard]] constexpr bool wire_valid(step_kind kind) noexcept {
  return kind >= step_kind::steps && kind <= step_kind::steal;
}

constexpr double steps_of_stepping = 8;       // of an object in a window, on average
constexpr std::uint64_t steps_at_first = 64;  // of all objects, before single ones are looked at
constexpr std::size_t objects_of_worker = 2;
constexpr std::size_t objects_enough = 128;       // of the sample in lasting_work, however many workers there are
constexpr std::uint64_t steps_forgotten = 65536;  // a window in which objects do not step ends after so many
constexpr double window_min = 100e-6, window_max = 10, length_min = 1e-9;
constexpr std::uint64_t steps_forgotten_of_object = 64;
constexpr double pause_max = 10;                // of a rank that has said `steps`, and between two trials
constexpr double first_patience = 16;           // windows between two `steps` of a rank, at first
constexpr std::uint32_t windows_of_trial = 3;   // before it is judged: behind two plans
constexpr double windows_of_trial_pause = 128;  // after the first trial in vain
constexpr std::size_t objects_of_plan = 1U << 14U, objects_of_rank = 8;  // what rank 0 looks at
constexpr double cost_of_window = 2;       // an object moves if moving it takes less than so many times its work
constexpr double least_cost = 10e-6;       // of a move, with the messages that follow and the news of it
constexpr double windows_of_hunger = 0.5;  // without work, until a rank steals though the others plan
constexpr double busy_enough = 0.1;        // of the workers' time, that handlers take
constexpr double worse = 0.9;              // than under lifelines, behind the trial

}  // namespace

struct step_message {
  step_kind kind = step_kind::steps;
  std::uint32_t number = 0;            // begin, look, report, moves: of the window
  bool counts_traffic = false;         // begin
  double length = 0;                   // seconds. steps: in which objects have run often enough; begin: of the window
  double rate = 0;                     // report: seconds of handlers a second
  double load = 0;                     // report: those of objects that are still here
  double worked = 0;                   // report: objects that have worked
  double steps = 0;                    // report: of them
  std::vector<wire_object> objects{};  // report, moves
  std::vector<wire_talk> talks{};      // report

  template <class Archive>
  void serialize(Archive& ar) {
    ar(kind, number, counts_traffic, length, rate, load, worked, steps, objects, talks);
  }
};

namespace {

void send_to_others(balancer_host& host, const step_message& m) {
  const std::vector<std::byte> bytes = pack(m);
  for (std::uint32_t rank = 0; rank < host.size(); ++rank) {
    if (rank_id{rank} != host.rank()) host.send(rank_id{rank}, bytes);
  }
}

}  // namespace

void adaptive_balancer::on_tick(balancer_host& host) {
  if (host.size() < 2) return;
  if (planning_) {
    steal_if_starving(host);
  } else {
    lifelines_.on_tick(host);
    if (host.now() >= look_at_ && host.observed() != nullptr) look_for_steps(host);
  }
  if (host.rank() == rank_id{0}) coordinate(host);
}

/// A rank that has been without work for some windows steals though the others plan: the program steps no longer, or
/// not here.
void adaptive_balancer::steal_if_starving(balancer_host& host) {
  work_observer* const work = host.observed();
  const double worked = work != nullptr ? work->window().seconds : 0;
  if (std::exchange(worked_, worked) != worked || host.idle_workers() < host.workers() || host.summary().waiting != 0) {
    busy_at_ = host.now();
  }
  const bool was_starving = std::exchange(starving_, host.now() - busy_at_ > windows_of_hunger * length_);
  if (starving_) return lifelines_.on_tick(host);
  if (was_starving) lifelines_.withdraw(host);
  lifelines_.serve(host);
}

/// From now on the rank plans, and waits for no lifeline.
void adaptive_balancer::begin_planning(balancer_host& host, std::uint32_t number, double length, bool counts_traffic) {
  number_ = number;
  length_ = length;
  was_said_ = false;
  if (!std::exchange(planning_, true)) {
    starving_ = false;
    busy_at_ = host.now();
    lifelines_.withdraw(host);
  }
  begin_window(host, counts_traffic);
}

/// The window that lifelines work in has no fixed length: it is over when each object has run often enough, or when so
/// many others have that the program does not step. A look at single objects comes with each doubling of the steps. A
/// window that has been idle for longer than it worked says nothing of how fast the program steps.
void adaptive_balancer::look_for_steps(balancer_host& host) {
  work_observer& work = *host.observed();
  const work_window now = work.window();
  look_at_ = host.now() + parameters_.interval.min();
  if (std::exchange(was_said_, false)) return begin_window(host);
  if (now.steps < next_steps_) {
    const double idle = now.length - now.active;
    if (idle > 10 * parameters_.interval.min() && idle > 2 * now.active) begin_window(host);
    return;
  }
  next_steps_ = 2 * now.steps;
  const lasting_work lasting = work.lasting();
  const double needed = now.active * steps_of_stepping / std::max(lasting.steps, 1.0);  // seconds
  const std::size_t objects_min = std::min(objects_of_worker * host.workers(), objects_enough);
  const bool do_step = lasting.objects >= objects_min && lasting.steps >= steps_of_stepping;
  if (do_step && needed <= window_max) {
    patience_ = std::min(patience_ > 0 ? 2 * patience_ : first_patience * needed, pause_max);
    look_at_ = host.now() + patience_;
    was_said_ = true;
    said_rate_ = now.seconds / std::max(now.active, length_min);
    if (host.rank() == rank_id{0}) {
      note_steps(host, rank_id{0}, needed);
    } else {
      host.send(rank_id{0}, pack(step_message{.kind = step_kind::steps, .length = needed}));
    }
  }
  if (do_step || now.steps > std::max(steps_forgotten, steps_forgotten_of_object * now.objects)) begin_window(host);
}

void adaptive_balancer::begin_window(balancer_host& host, bool counts_traffic) {
  next_steps_ = steps_at_first;
  if (work_observer* const work = host.observed(); work != nullptr) work->begin_window(counts_traffic);
}

/// Forgets those that have said so before that time.
void adaptive_balancer::forget_steppers(double bound) {
  for (; !steppers_.empty() && steppers_.front().time < bound; steppers_.pop_front()) {
    said_[steppers_.front().rank.value()] = false;
  }
}

/// When enough ranks have said lately that their objects step, all are asked what handlers work under lifelines. A rank
/// whose objects go on to step says so again within pause_max.
void adaptive_balancer::note_steps(balancer_host& host, rank_id source, double seconds) {
  if (phase_ != phase::waiting || host.now() < trial_at_) return;
  said_.resize(host.size());
  forget_steppers(host.now() - 2 * pause_max);
  if (said_[source.value()]) return;
  said_[source.value()] = true;
  steppers_.push_back({.rank = source, .time = host.now(), .seconds = sane(seconds)});
  if (2 * steppers_.size() < host.size()) return;
  window_ = 0;
  for (const stepper& each : steppers_) window_ += each.seconds;
  window_ = std::clamp(window_ / static_cast<double>(steppers_.size()), window_min, window_max);
  close_window(host);
}

void adaptive_balancer::coordinate(balancer_host& host) {
  switch (phase_) {
    case phase::open:
      if (host.now() >= next_at_) close_window(host);
      return;
    case phase::waiting:
    case phase::collecting:
      return;
    case phase::pausing:
      if (host.now() >= next_at_) open_window(host);
      return;
  }
}

void adaptive_balancer::open_window(balancer_host& host) {
  phase_ = phase::open;
  next_at_ = host.now() + window_;
  begin_planning(host, number_ + 1, window_, moved_);
  send_to_others(host, {.kind = step_kind::begin, .number = number_, .counts_traffic = moved_, .length = window_});
}

void adaptive_balancer::close_window(balancer_host& host) {
  phase_ = phase::collecting;
  reports_.assign(host.size(), {});
  reported_.assign(host.size(), false);
  missing_ = host.size();
  rate_ = objects_ = steps_ = 0;
  if (!planning_) ++number_;
  send_to_others(host, {.kind = step_kind::look, .number = number_});
  note(host, host.rank(), own_report(host));
}

step_message adaptive_balancer::own_report(balancer_host& host) const {
  step_message report{.kind = step_kind::report, .number = number_};
  work_observer* const work = host.observed();
  if (work == nullptr) return report;
  const work_window window = work->window();
  const double length = std::max(window.length, length_min);
  report.rate = was_said_ ? said_rate_ : window.seconds / length;
  report.steps = static_cast<double>(window.steps);
  const std::size_t of_rank = std::max<std::size_t>(objects_of_plan / host.size(), objects_of_rank);
  const worked_objects worked = work->worked(std::min<std::size_t>(parameters_.objects_max, of_rank));
  report.load = worked.seconds / length;
  report.worked = static_cast<double>(worked.objects);
  refine_report known;
  for (const object_load& each : worked.movable) {
    if (std::max(each.migration_cost, least_cost) > cost_of_window * each.load) continue;
    known.movable.push_back({.object = each.object, .load = sane(each.load) / length});
  }
  for (const object_load& each : known.movable) append_talks(host, each.object, known.talks);
  write_report(known, report.objects, report.talks);
  return report;
}

void adaptive_balancer::on_message(balancer_host& host, rank_id source, std::span<const std::byte> bytes) {
  if (bytes.empty() || !wire_valid(static_cast<step_kind>(bytes[0]))) return lifelines_.on_message(host, source, bytes);
  const expected<step_message, wire_error> m = unpack<step_message>(bytes);
  if (!m || source == host.rank() || source.value() >= host.size()) return;
  if (m->kind == step_kind::steps) {
    if (host.rank() == rank_id{0}) note_steps(host, source, m->length);
    return;
  }
  if (m->kind == step_kind::report) return note(host, source, *m);
  if (source != rank_id{0}) return;
  switch (m->kind) {
    case step_kind::begin:
      return begin_planning(host, m->number, std::clamp(sane(m->length), window_min, window_max), m->counts_traffic);
    case step_kind::look:
      number_ = m->number;
      if (work_observer* const work = host.observed(); work != nullptr) length_ = work->window().length;
      host.send(source, pack(own_report(host)));
      return begin_window(host);
    case step_kind::moves:
      return apply_moves(host, m->objects);
    default:
      planning_ = false;
      patience_ = 0;
      return begin_window(host);
  }
}

void adaptive_balancer::note(balancer_host& host, rank_id source, const step_message& m) {
  if (phase_ != phase::collecting || m.number != number_ || reported_[source.value()]) return;
  reported_[source.value()] = true;
  refine_report& report = reports_[source.value()];
  report.load = sane(m.load);
  rate_ += sane(m.rate);
  objects_ += sane(m.worked);
  steps_ += sane(m.steps);
  read_report(report, m.objects, m.talks);
  if (--missing_ == 0) decide(host);
}

void adaptive_balancer::decide(balancer_host& host) {
  if (work_observer* const work = host.observed(); work != nullptr) length_ = work->window().length;
  begin_window(host);
  if (!planning_) return begin_trial(host);
  if (!is_worth_it(rate_)) return give_up(host);
  fit_window();
  plan(host);
}

/// Where most of the time passes with nothing to do for handlers, it is not their balance that matters.
void adaptive_balancer::begin_trial(balancer_host& host) {
  rate_of_lifelines_ = rate_;
  rate_of_plans_ = 0;
  windows_ = 0;
  moved_ = false;
  if (rate_ < busy_enough * host.size() * host.workers()) return give_up(host);
  open_window(host);
}

/// Judges the plans by the work that handlers do in a second. Two plans may be needed before the best is reached;
/// behind them the trial has been won, and the next one does not come late.
bool adaptive_balancer::is_worth_it(double rate) {
  const double previous = std::exchange(rate_of_plans_, rate), best = std::max(rate, previous);
  if (!(best > 0)) return false;
  ++windows_;
  if (windows_ < windows_of_trial) return true;
  if (windows_ > windows_of_trial) return best > worse * rate_of_lifelines_;
  const bool has_won = best > rate_of_lifelines_ * (1 + uncertainty());
  if (has_won) trial_pause_ = 0;
  return has_won;
}

/// So that each object runs often enough in a window, and not much more often. A busy rank may have closed it late.
void adaptive_balancer::fit_window() {
  const double often = steps_ / std::max(objects_, 1.0) / steps_of_stepping;
  if (often < 1 || often > 4) window_ = length_ * 2 / std::clamp(often, 0.25, 16.0);
  window_ = std::clamp(window_, window_min, window_max);
}

/// A window begins and ends in the middle of a step, so that some objects run once more often in it than others: a
/// difference of that size is none.
double adaptive_balancer::uncertainty() const { return std::max(objects_, 1.0) / std::max(steps_, 1.0); }

void adaptive_balancer::plan(balancer_host& host) {
  const std::vector<refine_move> moves = refine(reports_, std::max(parameters_.tolerance, uncertainty()));
  const std::vector<std::vector<wire_object>> orders = moves_by_rank(moves, host.size());
  apply_moves(host, orders[0]);
  for (std::uint32_t rank = 1; rank < host.size(); ++rank) {
    if (orders[rank].empty()) continue;
    host.send(rank_id{rank}, pack(step_message{.kind = step_kind::moves, .number = number_, .objects = orders[rank]}));
  }
  moved_ = !moves.empty();
  if (moved_) pause_.succeed();
  phase_ = phase::pausing;
  next_at_ = host.now() + std::max(pause_.fail(host.rng()), window_ / 4);
}

void adaptive_balancer::give_up(balancer_host& host) {
  if (planning_) send_to_others(host, {.kind = step_kind::steal, .number = number_});
  const bool had_won = windows_ > windows_of_trial;
  planning_ = false;
  patience_ = 0;
  phase_ = phase::waiting;
  said_.assign(host.size(), false);
  steppers_.clear();
  if (rate_ > 0 && !had_won) {  // else the program has stopped, or does something else now
    trial_pause_ = std::min(trial_pause_ > 0 ? 2 * trial_pause_ : windows_of_trial_pause * window_, pause_max);
    trial_at_ = host.now() + trial_pause_;
  }
  window_ = rate_ = 0;
}

/// Objects that have left since the report stay where they are.
void adaptive_balancer::apply_moves(balancer_host& host, const std::vector<wire_object>& moves) {
  for (const wire_object& each : moves) {
    const object_id object = object_id::from_value(each.object);
    if (each.target >= host.size() || each.target == host.rank().value()) continue;
    if (host.load_of(object)) host.migrate(object, rank_id{each.target});
  }
}

std::unique_ptr<balancer> make_adaptive_balancer(const config& configuration) {
  return std::make_unique<adaptive_balancer>(adaptive_balancer::options{
      .lifelines = lifeline_options(configuration),
      .interval = read_backoff(configuration, "balance.adaptive.interval", "balance.adaptive.interval_max"),
      .tolerance = configuration.get_double("balance.adaptive.tolerance"),
      .objects_max = static_cast<std::uint32_t>(configuration.get_int("balance.adaptive.objects_max")),
  });
}

}  // namespace nacre::balance
