// SPDX-License-Identifier: Apache-2.0
// A balancer at work in a rank: its clock, its messages, its view of the load.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <nacre/balancer.hpp>
#include <nacre/runtime.hpp>

#include "base/thrown.hpp"
#include "mobile/mobile.hpp"

namespace nacre {

/// Hosts one balancer. The balancer's methods are called inside the poll loop only, so one at a time.
class balancing final : private balancer_host {
 public:
  struct site {
    std::uint64_t seed = 1;
    std::uint32_t ranks_on_host = 1;
  };
  balancing(node& messages, object_space& objects, backplane& link, clock& time, const config& configuration,
            const site& at);
  ~balancing();

  void enable(bool on) noexcept { enabled_.store(on, std::memory_order_relaxed); }  // a wish, not an order
  /// Other ranks have asked this one for work. Any lane; a hint.
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }

  /// For the balancers of other ranks.
  void on_balancer_message(context& ctx, const std::vector<std::byte>& bytes);

 private:
  std::chrono::nanoseconds tick(lane& by);
  void note_wish();
  /// Calls the balancer, which may be the user's: what it throws ends the job with its name.
  template <class Call>
  void call_policy(Call&& call) {
    call_named([this] { return "the balancer '" + policy_name_ + '\''; }, std::forward<Call>(call));
  }

  [[nodiscard]] rank_id rank() const noexcept override;
  [[nodiscard]] std::uint32_t size() const noexcept override;
  [[nodiscard]] std::uint32_t ranks_on_host() const noexcept override { return ranks_on_host_; }
  [[nodiscard]] std::span<const object_load> local_loads() override;
  void assume_message_seconds(double seconds) override { assumed_seconds_ = seconds; }
  [[nodiscard]] double total_load() override;
  [[nodiscard]] std::span<const object_traffic> traffic(object_id of) override;
  [[nodiscard]] std::uint32_t workers() const override;
  [[nodiscard]] std::uint32_t idle_workers() const override;
  void send(rank_id to, std::span<const std::byte> bytes) override;
  void migrate(object_id object, rank_id to) override;
  [[nodiscard]] nacre::rng& rng() override { return random_; }
  [[nodiscard]] double now() const override;

  node& messages_;
  object_space& objects_;
  clock& time_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds traffic_half_life_;
  std::uint32_t ranks_on_host_;
  std::uint32_t idle_ticks_ = 0;  // in a row, of a rank that has nothing to do
  std::string model_name_, policy_name_;
  std::unique_ptr<load_model> model_;
  std::unique_ptr<balancer> policy_;  // null for `none`
  nacre::rng random_;
  std::vector<object_load> loads_;
  std::vector<load_facts> facts_;  // scratch: of each in loads_
  std::vector<object_traffic> traffic_;
  double assumed_seconds_ = 0;  // of a message to an object that has not been measured; 0: as the others take
  lane* by_ = nullptr;          // who runs the poll loop now
  std::atomic<bool> enabled_{true};
  std::atomic<bool> wanted_{false};
};

}  // namespace nacre
