// SPDX-License-Identifier: Apache-2.0
// Between a balancer and its rank: when it looks, and how its requests are carried out.
#include "balance/balancing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "balance/balancer/registry.hpp"
#include "balance/load/load.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t ticks_before_longer = 4;
constexpr std::uint32_t longer_max = 5;  // powers of two
constexpr int extra_tick_intervals = 8;
constexpr std::chrono::nanoseconds dry_wait_min{500};
constexpr std::chrono::nanoseconds tick_at_rest = std::chrono::seconds(1);
constexpr double burst_seconds = 1e-3;  // bound of the account
constexpr std::size_t queue_max = 64;   // messages that wait for the account
constexpr std::uint64_t migrations_a_sample = 16;
constexpr std::uint32_t epochs_a_window = 3;  // what was counted before a window counts an eighth in it
constexpr double ticks_part = 0.5;            // ticks take at most this part of the share: the rest is for messages

void add_to(std::atomic<double>& sum, double seconds) noexcept {
  sum.store(sum.load(std::memory_order_relaxed) + seconds, std::memory_order_relaxed);  // one writer; orders nothing
}

/// Throws usage_error, to which the name of the balancer is added.
void check_rank(rank_id target, std::uint32_t size) {
  if (target.value() < size) return;
  throw usage_error("there is no rank " + std::to_string(target.value()) + " among " + std::to_string(size));
}

/// `loads` is in the order of ids.
bool holds(const std::vector<object_load>& loads, object_id object) {
  const auto position =
      std::lower_bound(loads.begin(), loads.end(), object,
                       [](const object_load& each, object_id object_name) { return each.object < object_name; });
  return position != loads.end() && position->object == object;
}

}  // namespace

balancing::balancing(am_engine& messages, const objects& subjects, backplane& link, clock& time,
                     const config& configuration, const site& site)
    : messages_(messages),
      objects_(subjects),
      time_(time),
      started_(time.now()),
      interval_(configuration.get_duration("balance.tick")),
      longest_wait_(interval_ * (1 << longer_max)),
      traffic_half_life_(configuration.get_duration("balance.traffic_half_life")),
      ranks_on_host_(site.ranks_on_host),
      model_name_(configuration.get_string("balance.load")),
      policy_name_(configuration.get_string("balancer")),
      model_(balance::make_load_model(model_name_, configuration)),
      policy_(make_balancer(policy_name_, configuration)),
      random_(nacre::rng(site.seed).fork(link.rank().value())),
      account_(configuration.get_double("balance.time_share"), burst_seconds),
      timer_(messages.pool(), messages.deferred()),
      work_(messages, {subjects.entries, subjects.view, subjects.traffic, subjects.costs, subjects.steps}, time,
            policy_ != nullptr && policy_->observes_communication()) {
  messages_.attach_module(*this);
  // A single rank has no receiver for its objects. A balancer of the program runs all the same: it may only observe.
  if (messages_.size() == 1 && !is_registered_balancer(policy_name_)) policy_.reset();
  if (policy_ != nullptr) {
    objects_.traffic.count(policy_->observes_communication());
    if (policy_->observes_work()) objects_.steps.open();
    link.duties().add_timer(interval_, [this](thread_context& thread) {
      const std::chrono::nanoseconds wait = tick(thread);
      tick_at_ = wait > longest_wait_ ? time_.now() + wait : std::chrono::nanoseconds::zero();
      return wait;
    });
    link.duties().add_hook([this](thread_context& thread) { return look_soon(thread); });
  }
}

balancing::~balancing() = default;

/// Runs one look. While the rank has nothing else to do, a look costs the account nothing.
template <class Body>
void balancing::look(thread_context& thread, Body body) {
  thread_ = &thread;
  const bool rests = at_rest();
  timer_.begin(thread);
  messages_.pool().charge_own(own_work::look);
  account_.pass(timer_.worked());
  looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // as in add_to
  migrating_seconds_ = 0;
  call_named([this] { return "the balancer '" + policy_name_ + '\''; },
             [&] {
               body();
               wanted_.store(policy_->wanted(), std::memory_order_relaxed);  // a hint
             });
  last_look_seconds_ = timer_.end(migrating_seconds_);
  add_to(look_seconds_, last_look_seconds_);
  if (rests) {
    add_to(resting_look_seconds_, last_look_seconds_);
  } else {
    account_.draw(last_look_seconds_);
  }
}

/// Returns the time until the next tick. At rest the interval grows after some ticks, so that waiting costs no core. A
/// busy rank waits until looks are within their share again.
std::chrono::nanoseconds balancing::tick(thread_context& thread) {
  constexpr double average_of = 8;
  account_.pass(timer_.worked());
  objects_.traffic.begin_epoch(epochs_a_window * work_.counting_windows() +
                               static_cast<std::uint32_t>((time_.now() - started_) / traffic_half_life_));
  take_queued_messages(thread, queue_max);
  if (may_look()) {
    look(thread, [this] {
      if (policy_->observes_loads()) tell_changes();
      policy_->on_tick(*this);
    });
    tick_seconds_ += (last_look_seconds_ - tick_seconds_) / average_of;
  }
  idle_ticks_ = at_rest() ? idle_ticks_ + 1 : 0;
  const auto next = interval_ * (1 << std::min(idle_ticks_ / ticks_before_longer, longer_max));
  if (at_rest()) return policy_->rests() ? std::max(next, tick_at_rest) : next;
  const double least = std::max(account_.until_even(), tick_seconds_ / (account_.share() * ticks_part));
  return std::max(next, std::chrono::nanoseconds(static_cast<std::int64_t>(least * 1e9)));
}

/// Takes one message in any case, and more while the balancer may look.
void balancing::take_queued_messages(thread_context& thread, std::size_t most) {
  for (std::size_t taken = 0; !queue_.empty() && taken < most && (taken == 0 || may_look()); ++taken) {
    const queued_message next = std::move(queue_.front());
    queue_.pop_front();
    look(thread, [&] { policy_->on_message(*this, next.source, next.bytes); });
  }
}

/// Looks before the next tick in three cases: a worker has just become idle; other ranks wait for work and this rank
/// can spare some; or the rank has work while its timer still waits as at rest, and its balancer observes work. After a
/// worker has become idle the first look comes a moment later (dry_wait_min), since work that its last item has made
/// may be about to arrive; each further wait is twice as long.
std::chrono::nanoseconds balancing::look_soon(thread_context& thread) {
  constexpr auto never = std::chrono::nanoseconds::max();
  thread_ = &thread;
  if (!queue_.empty() && may_look()) take_queued_messages(thread, queue_max);
  const std::uint32_t idle = messages_.pool().idle_workers();
  if (idle > idle_seen_ && !policy_->rests()) look_soon_again();
  if (idle == 0) dry_look_at_ = never;
  idle_seen_ = idle;
  if (tick_at_ != std::chrono::nanoseconds::zero() && policy_->observes_work() && idle < workers() &&
      time_.now() + longest_wait_ < tick_at_ && time_.now() >= extra_tick_at_) {
    extra_tick_at_ = time_.now() + std::max(tick(thread), interval_ * extra_tick_intervals);
  }
  const bool dry = dry_look_at_ != never && time_.now() >= dry_look_at_;
  if ((dry || (wanted() && idle < workers() && summary().waiting > idle_workers())) && may_look()) {
    look(thread, [this] { policy_->on_tick(*this); });
  }
  if (dry) {
    dry_wait_ *= 2;
    dry_look_at_ = dry_wait_ < longest_wait_ ? time_.now() + dry_wait_ : never;
  }
  return dry_look_at_;
}

void balancing::on_balancer_message(context& ctx, const std::vector<std::byte>& bytes) {
  if (policy_ == nullptr) return;
  idle_ticks_ = 0;
  if (!queue_.empty() || !may_look()) {
    queue_.push_back({ctx.source(), bytes});
    if (queue_.size() > queue_max) take_queued_messages(ctx.current_thread(), 1);
    return;
  }
  look(ctx.current_thread(), [&] { policy_->on_message(*this, ctx.source(), bytes); });
  if (idle_seen_ != 0 && !policy_->rests()) look_soon_again();  // its next tick may be a second away
}

void balancing::look_soon_again() {
  dry_wait_ = dry_wait_min;
  dry_look_at_ = time_.now() + dry_wait_;
}

/// Calls on_load for each changed object. If the rank knows more objects than one walk sees, that means every
/// object of the walk; what is no longer loaded is told where a walk sees all.
void balancing::tell_changes() {
  if (!enabled_.load(std::memory_order_relaxed)) return;  // see enable
  const std::span<const object_load> now = local_loads();
  auto previous = told_.cbegin();
  const auto pass_gone = [&](object_id end) {
    for (; previous != told_.cend() && previous->object < end; ++previous) {
      if (loads_are_all_) policy_->on_load({.object = previous->object});
    }
  };
  for (const object_load& each : now) {
    pass_gone(each.object);
    const bool known = previous != told_.cend() && previous->object == each.object;
    if (!known || previous->load != each.load || previous->messages != each.messages ||
        previous->running != each.running) {
      policy_->on_load(each);
    }
    if (known) ++previous;
  }
  pass_gone(object_id::from_value(~std::uint64_t{0}));
  told_.assign(now.begin(), now.end());
}

balancing::costs balancing::so_far() const noexcept {  // relaxed: the figures order nothing
  return {.looks = looks_.load(std::memory_order_relaxed),
          .look_seconds = look_seconds_.load(std::memory_order_relaxed),
          .resting_look_seconds = resting_look_seconds_.load(std::memory_order_relaxed),
          .migration_seconds = migration_seconds_.load(std::memory_order_relaxed),
          .messages = messages_sent_.load(std::memory_order_relaxed)};
}

rank_id balancing::rank() const noexcept { return messages_.rank(); }
std::uint32_t balancing::size() const noexcept { return messages_.size(); }

std::span<const object_traffic> balancing::traffic(object_id object) {
  traffic_.clear();
  objects_.traffic.visit(object, [this](const traffic_partner& each, rank_id rank) {
    traffic_.push_back({.partner = each.object, .where = rank, .messages = each.messages, .bytes = each.bytes});
  });
  return traffic_;
}

std::uint32_t balancing::workers() const { return messages_.pool().workers(); }

/// A worker that runs the poll loop between two items will take the next item, so it counts as idle here. Else the rank
/// would give away its only waiting object.
std::uint32_t balancing::idle_workers() const {
  const bool between_items = thread_->role() == thread_role::worker && !thread_->idle();
  return messages_.pool().idle_workers() + (between_items ? 1 : 0);
}

std::uint64_t balancing::arrivals() const {
  std::uint64_t sum = 0;
  for (const auto& each : messages_.pool().thread_contexts()) sum += each->counters().migrations_in.read();
  return sum;
}

void balancing::send(rank_id target, std::span<const std::byte> bytes) {
  check_rank(target, size());
  messages_sent_.store(messages_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // as in add_to
  messages_.post_to_module<&balancing::on_balancer_message>(*thread_, target, std::vector(bytes.begin(), bytes.end()));
}

bool balancing::move(object_id object, rank_id target, wish_kind wish) {
  check_rank(target, size());
  if (!enabled_.load(std::memory_order_relaxed)) return false;  // relaxed: see enable
  if (messages_.held.on()) return false;                        // what lies would go to and fro
  const worker_pool& pool = messages_.pool();
  const bool sampled = !messages_.deferred() && migrations_++ % migrations_a_sample == 0;
  const double worked = sampled ? balance::thread_seconds() : 0;
  const std::uint64_t begin = pool.instant();
  const bool leaves = objects_.requests.request(*thread_, object, target, wish);
  // The next local_loads() removes it; not this, since the caller may be iterating over loads_ now.
  if (holds(loads_, object) && sent_away_.size() < loads_.size()) sent_away_.push_back(object);
  const double passed = static_cast<double>(pool.instant() - begin) * pool.seconds_a_tick();
  migrating_seconds_ += passed;
  if (sampled) add_to(migration_seconds_, (balance::thread_seconds() - worked) * migrations_a_sample);
  if (messages_.deferred()) add_to(migration_seconds_, passed);
  return leaves;
}

double balancing::now() const { return std::chrono::duration<double>(time_.now() - started_).count(); }

}  // namespace nacre
