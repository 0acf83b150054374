// SPDX-License-Identifier: Apache-2.0
// Between a balancer and its rank.
#include "balance/balancing.hpp"

#include <algorithm>
#include <utility>

#include "balance/balancer/registry.hpp"
#include "balance/load/load.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t ticks_before_longer = 4;
constexpr std::uint32_t longer_max = 5;  // powers of two

}  // namespace

balancing::balancing(node& messages, object_space& objects, backplane& link, clock& time, const config& configuration,
                     const site& at)
    : messages_(messages),
      objects_(objects),
      time_(time),
      started_(time.now()),
      interval_(configuration.get_duration("balance.tick")),
      traffic_half_life_(configuration.get_duration("balance.traffic_half_life")),
      ranks_on_host_(at.ranks_on_host),
      model_name_(configuration.get_string("balance.load")),
      policy_name_(configuration.get_string("balancer")),
      model_(balance::make_load_model(model_name_, configuration)),
      policy_(make_balancer(policy_name_, configuration)),
      random_(nacre::rng(at.seed).fork(link.rank().value())) {
  messages_.attach_module(*this);
  if (policy_ != nullptr) {
    if (policy_->observes_communication()) objects_.count_traffic();
    link.add_timer(interval_, [this](lane& by) { return tick(by); });
  }
}

balancing::~balancing() = default;

/// A rank that has had nothing to do for some ticks looks less and less often, so that waiting costs no core.
std::chrono::nanoseconds balancing::tick(lane& by) {
  by_ = &by;
  objects_.begin_traffic_epoch(static_cast<std::uint32_t>((time_.now() - started_) / traffic_half_life_));
  if (policy_->observes_loads()) {
    const std::span<const object_load> loads = local_loads();
    call_policy([&] {
      for (const object_load& each : loads) policy_->on_load(each);
    });
  }
  call_policy([&] { policy_->on_tick(*this); });
  note_wish();
  idle_ticks_ = messages_.team().idle_workers() == workers() ? idle_ticks_ + 1 : 0;
  return interval_ * (1 << std::min(idle_ticks_ / ticks_before_longer, longer_max));
}

void balancing::on_balancer_message(context& ctx, const std::vector<std::byte>& bytes) {
  if (policy_ == nullptr) return;
  by_ = &ctx.current_lane();
  idle_ticks_ = 0;
  call_policy([&] { policy_->on_message(*this, ctx.source(), bytes); });
  note_wish();
}

void balancing::note_wish() {
  wanted_.store(policy_->wanted(), std::memory_order_relaxed);  // a hint
}

rank_id balancing::rank() const noexcept { return messages_.rank(); }
std::uint32_t balancing::size() const noexcept { return messages_.size(); }

std::span<const object_load> balancing::local_loads() {
  loads_.clear();
  if (!enabled_.load(std::memory_order_relaxed)) return loads_;  // a wish
  facts_.clear();
  const double cost = objects_.migration_seconds();
  objects_.visit_loads([&](const object_estimate& each) {
    facts_.push_back({.declared = each.declared, .message_seconds = each.message_seconds, .messages = each.messages});
    loads_.push_back({.object = each.id,
                      .messages = each.messages,
                      .migration_cost = cost,
                      .running = each.running,
                      .seconds = each.message_seconds * each.messages});
  });
  const double usual = assumed_seconds_ > 0 ? assumed_seconds_ : balance::usual_message_seconds(facts_);
  const auto name = [this] { return "the load model '" + model_name_ + '\''; };
  for (std::size_t index = 0; index < facts_.size(); ++index) {
    if (!(facts_[index].message_seconds > 0)) facts_[index].message_seconds = usual;
    loads_[index].load = call_named(name, [&] { return model_->load(facts_[index]); });
  }
  std::sort(loads_.begin(), loads_.end(),
            [](const object_load& a, const object_load& b) { return a.object.value() < b.object.value(); });
  return loads_;
}

double balancing::total_load() {
  double sum = 0;
  for (const object_load& each : local_loads()) sum += each.load;
  return sum;
}

std::span<const object_traffic> balancing::traffic(object_id of) {
  traffic_.clear();
  objects_.visit_traffic(of, [this](const traffic_partner& each, rank_id where) {
    traffic_.push_back({.partner = each.object, .where = where, .messages = each.messages, .bytes = each.bytes});
  });
  return traffic_;
}

std::uint32_t balancing::workers() const { return messages_.team().workers(); }

/// A worker that takes its turn of the poll loop between two items will take the next one: it counts as looking for
/// work, so that its only object is no surplus.
std::uint32_t balancing::idle_workers() const {
  const bool between_items = by_->role() == lane_role::worker && !by_->idle();
  return messages_.team().idle_workers() + (between_items ? 1 : 0);
}

void balancing::send(rank_id to, std::span<const std::byte> bytes) {
  messages_.post_to_module<&balancing::on_balancer_message>(*by_, to, std::vector(bytes.begin(), bytes.end()));
}

void balancing::migrate(object_id object, rank_id to) {
  if (enabled_.load(std::memory_order_relaxed)) objects_.move_out(*by_, object, to);  // a wish
}

double balancing::now() const { return std::chrono::duration<double>(time_.now() - started_).count(); }

}  // namespace nacre
