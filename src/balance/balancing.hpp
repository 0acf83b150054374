// SPDX-License-Identifier: Apache-2.0
// A balancer at work in a rank: its clock, its messages, its view of the load, and how much time it may take.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nacre/balancer.hpp>
#include <nacre/runtime.hpp>

#include "balance/look_timer.hpp"
#include "balance/observed_work.hpp"
#include "balance/time_share.hpp"
#include "base/exception_text.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/life/migration_costs.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/move_requests.hpp"
#include "mobile/object/step_record.hpp"
#include "mobile/object/traffic_counter.hpp"

namespace nacre {

/// Hosts one balancer. Only the poll loop calls the balancer's methods, so one call runs at a time.
///
/// Invariant: a balancer takes at most its share of a busy rank's time. Two cases are excepted: a single look that does
/// not return, and a flood of messages.
///
/// A *look* is one call of the balancer: a tick, or a message. Its cost without migrations is drawn from an account
/// (time_share.hpp), unless the rank has nothing else to do. While the account is overdrawn no look begins, with one
/// exception: each tick takes one waiting message. Meanwhile ticks are put off, and other messages wait in order. When
/// queue_max messages wait, each new one makes the rank handle the oldest, so a flood costs the receiver time but only
/// bounded memory.
///
/// Each request of a look to its host is bounded, too: summary() by the number of workers, candidates() by the number
/// that the balancer asks for, local_loads() by `words_a_walk`.
class balancing final : private balancer_host {
 public:
  struct site {
    std::uint64_t seed = 1;
    std::uint32_t ranks_on_host = 1;
  };
  /// The cost of looks and migrations of this rank so far.
  struct costs {
    std::uint64_t looks = 0;
    double look_seconds = 0;          ///< in the balancer's code, and in the host's answers to it
    double resting_look_seconds = 0;  ///< the part of look_seconds while the rank had nothing else to do
    double migration_seconds = 0;     ///< CPU time for sending objects away: every 16th migration is measured, times 16
    std::uint64_t messages = 0;       ///< that the balancer has sent to other ranks
  };
  /// The parts through which it sees the objects of the rank, and asks them to move.
  struct objects {
    const directory& entries;
    balancer_view& view;
    move_requests& requests;
    traffic_counter& traffic;
    step_record& steps;
    const migration_costs& costs;
  };
  balancing(am_engine& messages, const objects& subjects, backplane& link, clock& time, const config& configuration,
            const site& site);
  ~balancing();

  /// While it is off no object leaves by a wish of the balancer, also of one that is open already.
  void enable(bool is_on) noexcept {
    enabled_.store(is_on, std::memory_order_relaxed);  // a request; orders nothing
    objects_.requests.heed(is_on);
  }
  /// Other ranks have asked this one for work. Any thread; a hint.
  [[nodiscard]] bool wanted() const noexcept {
    return wanted_.load(std::memory_order_relaxed) && enabled_.load(std::memory_order_relaxed);
  }
  /// Any thread; exact while the rank is at rest.
  [[nodiscard]] costs so_far() const noexcept;

  /// Handler of messages from the balancers of other ranks.
  void on_balancer_message(context& ctx, const std::vector<std::byte>& bytes);

 private:
  struct queued_message {
    rank_id source;
    std::vector<std::byte> bytes;
  };
  template <class Body>
  void look(thread_context& thread, Body body);
  std::chrono::nanoseconds tick(thread_context& thread);
  std::chrono::nanoseconds look_soon(thread_context& thread);
  void look_soon_again();
  void take_queued_messages(thread_context& thread, std::size_t most);
  void tell_changes();
  [[nodiscard]] bool at_rest() const { return messages_.pool().idle_workers() == workers(); }
  [[nodiscard]] bool may_look() const { return !account_.overdrawn() || at_rest(); }

  enum class sought : std::uint8_t { movable, all };  // all: those that stay, too
  void find_waiting(std::size_t count, sought kind);
  void find_declared(std::size_t count, candidate_kind kind);
  void add(const object_estimate& each, std::vector<object_load>& object_loads);
  void price(std::vector<object_load>& all);
  void walk();
  [[nodiscard]] double estimated_load();

  [[nodiscard]] rank_id rank() const noexcept override;
  [[nodiscard]] std::uint32_t size() const noexcept override;
  [[nodiscard]] std::uint32_t ranks_on_host() const noexcept override { return ranks_on_host_; }
  [[nodiscard]] rank_load summary() override;
  [[nodiscard]] std::span<const object_load> candidates(std::size_t most, candidate_kind kind) override;
  [[nodiscard]] std::optional<object_load> load_of(object_id object) override;
  [[nodiscard]] std::span<const object_load> local_loads() override;
  void assume_message_seconds(double seconds) override { assumed_seconds_ = seconds; }
  [[nodiscard]] double total_load() override;
  [[nodiscard]] std::span<const object_traffic> traffic(object_id object) override;
  [[nodiscard]] work_observer* observed() override { return policy_->observes_work() ? &work_ : nullptr; }
  [[nodiscard]] std::uint32_t workers() const override;
  [[nodiscard]] std::uint32_t idle_workers() const override;
  [[nodiscard]] std::uint64_t arrivals() const override;
  void send(rank_id target, std::span<const std::byte> bytes) override;
  void migrate(object_id object, rank_id target) override { move(object, target, wish_kind::always); }
  bool migrate_if_worth(object_id object, rank_id target) override { return move(object, target, wish_kind::if_worth); }
  bool move(object_id object, rank_id target, wish_kind wish);
  [[nodiscard]] nacre::rng& rng() override { return random_; }
  [[nodiscard]] double now() const override;

  am_engine& messages_;
  objects objects_;
  clock& time_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds interval_, longest_wait_;  // of ticks, while the balancer does not rest
  std::chrono::nanoseconds traffic_half_life_;
  std::uint32_t ranks_on_host_;
  std::uint32_t idle_seen_ = 0;           // idle workers, at the last pass of the poll loop
  std::chrono::nanoseconds dry_wait_{0};  // until the next look, while workers are idle
  std::chrono::nanoseconds dry_look_at_ = std::chrono::nanoseconds::max();  // max: no worker has just run dry
  std::chrono::nanoseconds tick_at_{0};  // of the timer, where that is beyond the longest wait of a rank with work
  std::chrono::nanoseconds extra_tick_at_{0};  // the earliest; until then there is none
  std::uint32_t idle_ticks_ = 0;               // consecutive ticks at which the rank was at rest
  std::string model_name_, policy_name_;
  std::unique_ptr<load_model> model_;
  std::unique_ptr<balancer> policy_;  // null for `none`
  nacre::rng random_;

  balance::time_share account_;
  double last_look_seconds_ = 0;
  double migrating_seconds_ = 0;  // wall time that this look has spent in migrations
  std::uint64_t migrations_ = 0;
  double tick_seconds_ = 0;           // moving average of a tick's cost
  std::deque<queued_message> queue_;  // messages that wait while the account is overdrawn; at most queue_max
  balance::look_timer timer_;
  std::atomic<std::uint64_t> looks_{0};  // the poll loop alone writes these five
  std::atomic<std::uint64_t> messages_sent_{0};
  std::atomic<double> look_seconds_{0};
  std::atomic<double> resting_look_seconds_{0};
  std::atomic<double> migration_seconds_{0};

  std::vector<object_load> loads_;       // of the last walk, in the order of ids
  double staying_load_ = 0;              // of objects that stay, in the last walk; they are not in loads_
  bool loads_are_all_ = false;           // the last walk has seen all of the directory
  std::uint64_t walked_in_ = 0;          // number of the look that made the last walk; 0: no walk yet
  std::vector<object_id> sent_away_;     // since the last walk
  std::size_t cursor_ = 0;               // of walks
  std::size_t search_cursor_ = 0;        // of searches for waiting objects, if the scheduler shows nothing
  std::vector<object_load> told_;        // loads last told to on_load, in the order of ids
  std::vector<object_load> candidates_;  // result of the last search for candidates
  std::vector<load_facts> facts_;        // scratch: one for each element of candidates_ or loads_
  double usual_seconds_ = 0;             // per message, from the last look that saw a measured object; 0: none yet
  std::vector<object_traffic> traffic_;
  observed_work work_;
  double assumed_seconds_ = 0;        // per message to an object without measurement; 0: the rank's usual_seconds_
  thread_context* thread_ = nullptr;  // the thread that runs the poll loop now
  std::atomic<bool> enabled_{true};
  std::atomic<bool> wanted_{false};
};

}  // namespace nacre
